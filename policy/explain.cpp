#include "policy/explain.h"

#include <fmt/format.h>

#include <algorithm>

namespace bulkhead::policy {
namespace {

bool holds(const std::vector<Selector>& selectors, const Universe& universe, ClassId cls) {
  return std::any_of(selectors.begin(), selectors.end(), [&](const Selector& selector) {
    const std::vector<ClassId> selected = select(selector, universe);
    return std::binary_search(selected.begin(), selected.end(), cls);
  });
}

bool names(const std::vector<Name>& services, const Policy& policy, const Question& question) {
  return std::any_of(services.begin(), services.end(), [&](const Name& name) {
    const auto service = policy.services.find(name.text);
    return service != policy.services.end() &&
           std::any_of(service->second.terms.begin(), service->second.terms.end(),
                       [&](const Traffic& term) {
                         return term.key == question.key && term.ports.contains(question.port);
                       });
  });
}

bool is_about(const Flow& flow, const Policy& policy, const Universe& universe,
              const Question& question) {
  const bool forward =
      holds(flow.from, universe, question.from) && holds(flow.to, universe, question.to);
  const bool reverse = flow.both_ways && holds(flow.from, universe, question.to) &&
                       holds(flow.to, universe, question.from);
  return (forward || reverse) && names(flow.services, policy, question);
}

bool is_about(const Never& never, const Policy& policy, const Universe& universe,
              const Question& question) {
  return holds(never.from, universe, question.from) && holds(never.to, universe, question.to) &&
         (never.services.empty() || names(never.services, policy, question)) &&
         !is_excepted(never, universe, question.from, question.to);
}

std::string date(const Date& day) {
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()),
                     static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()));
}

const Piece* piece_of(const Cell& cell, const Question& question) {
  for (const Piece& piece : cell.pieces)
    if (piece.key == question.key && piece.ports.contains(question.port))
      return &piece;
  return nullptr;
}

// Does anything bring this packet from the one to the other? The matrix says it for whole cells; a
// piece may run over one family only.
bool is_carried(const Class& from, const Class& to, const Question& question) {
  return (carriers(from) & carriers(to) & carriers(question.key, question.port) & question.over) !=
         0;
}

std::string text_of(const Flow& flow, const Matrix& matrix, const Explanation& decided,
                    bool carried) {
  if (flow.expires && std::chrono::sys_days(*flow.expires) < std::chrono::sys_days(matrix.as_of))
    return "expired on " + date(*flow.expires);
  if (flow.action == Action::Deny)
    return "denies";
  if (!carried)
    return "allows what is carried";
  return decided.action == Action::Deny ? "hidden by " + decided.rule : "allows";
}

}  // namespace

Explanation explain(const Policy& policy, const Matrix& matrix, const Question& question) {
  const Universe& universe = matrix.universe;
  const Class& from = universe.classes[question.from];
  const Class& to = universe.classes[question.to];
  const std::string traffic =
      to_string(Traffic{question.key, PortSet{{question.port, question.port}}});
  const std::string pair = fmt::format("{} from {} to {}", traffic, from.name, to.name);

  Explanation out;
  const Cell* cell = matrix.find(question.from, question.to);
  const Piece* piece = cell ? piece_of(*cell, question) : nullptr;
  const bool is_spare = from.kind == ClassKind::Spare || to.kind == ClassKind::Spare;
  const bool carried = is_carried(from, to, question);
  if (!carried && !is_spare) {
    out.rules = {std::string(kRuleDefault)};
    out.reason = fmt::format("{} cannot be: nothing carries it between the two", pair);
  } else if (cell && cell->everything) {
    out.action = Action::Allow;
    out.rules = {std::string(kRuleInside)};
    out.reason = fmt::format("{} is allowed: segment {} says inside = \"open\"", pair, from.place);
  } else if (piece) {
    out.action = piece->action;
    out.rules = piece->rules;
    out.reason =
        fmt::format("{} is {} by {}", pair, piece->action == Action::Allow ? "allowed" : "denied",
                    fmt::join(piece->rules, ", "));
  } else {
    out.rules = {std::string(kRuleDefault)};
    out.reason = is_spare
                     ? fmt::format("{} is denied: a spare host reaches nobody", pair)
                     : fmt::format("{} is denied by default: no flow in force speaks of it", pair);
  }
  out.rule = out.rules.front();

  for (const Flow& flow : policy.flows)
    if (is_about(flow, policy, universe, question))
      out.lines.push_back({flow.id, flow.at, text_of(flow, matrix, out, carried)});
  for (const Never& never : policy.nevers)
    if (is_about(never, policy, universe, question))
      out.lines.push_back({never.id, never.at, "says never"});
  return out;
}

}  // namespace bulkhead::policy
