#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/coverage_parts.h"
#include "policy/date.h"

namespace bulkhead::compiler {
namespace {

using policy::Action;
using policy::Class;
using policy::ClassId;
using policy::ClassKind;

// Pairs about which one line of the policy has the same complaint: shown by the first, with a
// count.
struct Pairs {
  ClassId from = 0, to = 0;
  std::size_t count = 0;
  void add(ClassId a, ClassId b) {
    if (count++ == 0) {
      from = a;
      to = b;
    }
  }
};

std::string and_more(const Pairs& pairs) {
  if (pairs.count < 2)
    return {};
  return fmt::format(" (and {} more pair{})", pairs.count - 1, pairs.count == 2 ? "" : "s");
}

class Findings {
 public:
  Findings(const CoverageFacts& facts, const Coverage& coverage, Diagnostics& diagnostics)
      : facts_(facts),
        coverage_(coverage),
        universe_(facts.matrix.universe),
        diagnostics_(diagnostics) {}

  void report() {
    for (const auto& [name, segment] : facts_.policy.segments)
      isolation(segment);
    explicit_denies();
    for (const policy::Never& never : facts_.policy.nevers)
      assertion(never);
    if (!diagnostics_.has_errors())  // else the missing path is only what follows
      allowed_without_path();
  }

 private:
  // No control, and somebody could send: nothing stops what the policy says is stopped.
  [[nodiscard]] bool is_open(ClassId from, ClassId to) const {
    const Class& source = universe_.classes[from];
    const Class& destination = universe_.classes[to];
    if (coverage_.at(from, to).cause != Cause::None ||
        (policy::carriers(source) & policy::carriers(destination)) == 0)
      return false;
    const bool ours = source.kind != ClassKind::External || destination.kind != ClassKind::External;
    return ours && (from != to || has_two_members(source));
  }

  // Crosses the never in the policy itself, whatever the network: validate_flows reports it.
  [[nodiscard]] bool is_open_inside(ClassId from, ClassId to) const {
    const policy::Cell* cell = facts_.matrix.find(from, to);
    return cell && cell->everything;
  }

  static bool has_two_members(const Class& cls) {
    if (cls.kind == ClassKind::Enforcer)
      return false;
    for (const Family family : kFamilies) {
      const AddressSet own = of_family(cls.addresses, family);
      if (own.size() > 1 || (own.size() == 1 && own.begin()->first != own.begin()->last))
        return true;
    }
    return false;
  }

  void not_enforced(const std::string& id, SourcePos at, std::string_view says,
                    const Pairs& pairs) {
    const Class& from = universe_.classes[pairs.from];
    const Class& to = universe_.classes[pairs.to];
    Diagnostic& found = diagnostics_.error(
        "not-enforced-here", at,
        fmt::format("{} {} {} to {}, but nothing on the path enforces it: {}{}", id, says,
                    from.name, to.name, coverage_.at(pairs.from, pairs.to).reason, and_more(pairs)),
        "put them on different segments of an enforcer of ours, or take the promise back");
    for (const Class* end : {&from, &to}) {
      const auto segment = facts_.policy.segments.find(end->place);
      if (segment != facts_.policy.segments.end() && (end == &from || to.place != from.place))
        found.related.push_back(
            {segment->second.at, fmt::format("segment {} is here", end->place)});
    }
  }

  void explicit_denies() {
    std::map<std::string, Pairs> open;
    for (const policy::Cell& cell : facts_.matrix.cells)
      for (const policy::Piece& piece : cell.pieces)
        if (piece.action == Action::Deny && is_open(cell.from, cell.to))
          for (const std::string& id : piece.rules)
            open[id].add(cell.from, cell.to);
    for (const policy::Flow& flow : facts_.policy.flows)
      if (const auto found = open.find(flow.id); found != open.end())
        not_enforced(flow.id, flow.at, "denies", found->second);
  }

  void assertion(const policy::Never& never) {
    const std::vector<ClassId> from = selected(never.from);
    const std::vector<ClassId> to = selected(never.to);
    Pairs open;
    for (const ClassId a : from)
      for (const ClassId b : to)
        if (is_open(a, b) && !is_open_inside(a, b) && !policy::is_excepted(never, universe_, a, b))
          open.add(a, b);
    if (open.count > 0)
      not_enforced(never.id, never.at, "says never from", open);
  }

  [[nodiscard]] std::vector<ClassId> selected(
      const std::vector<policy::Selector>& selectors) const {
    std::vector<ClassId> out;
    for (const policy::Selector& selector : selectors) {
      const auto some = policy::select(selector, universe_);
      out.insert(out.end(), some.begin(), some.end());
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  void isolation(const policy::Segment& segment) {
    if (segment.inside != policy::Inside::Isolated || !segment.isolated_by)
      return;  // a missing isolated_by is validate_names'
    const auto control = facts_.inventory.enforcers.find(segment.isolated_by->text);
    if (control == facts_.inventory.enforcers.end())
      return;
    const Enforcer& enforcer = control->second;
    if (!separates(enforcer, "port")) {
      diagnostics_
          .error("isolation-not-enforced", segment.isolated_by->at,
                 fmt::format("{} does not keep the ports of {} apart", enforcer.name, segment.name),
                 "it must say separates = [\"port\"]")
          .related.push_back({enforcer.at, fmt::format("{} is here", enforcer.name)});
      return;
    }
    const auto& accepted = enforcer.accept_silence;
    if (accepted && accepted->expires &&
        std::chrono::sys_days(*accepted->expires) < std::chrono::sys_days(facts_.matrix.as_of))
      diagnostics_.warning("accept-silence-ended", accepted->at,
                           fmt::format("silence of {} is accepted no longer: it ended on {}",
                                       enforcer.name, policy::format_date(*accepted->expires)));
  }

  [[nodiscard]] bool is_reached(ClassId from, ClassId to) const {
    const std::size_t a = facts_.topology.place_of(from);
    const std::size_t b = facts_.topology.place_of(to);
    for (const std::size_t place : {a, b}) {
      if (facts_.topology.places()[place].what == Place::What::Partition)
        return true;
      if (facts_.topology.places()[place].what == Place::What::Nowhere)
        return false;
    }
    return a == b || facts_.topology.path(a, b).arrives;
  }

  // Broad selectors mean "wherever there is a way"; a flow that names both its ends means them.
  static bool is_broad(const std::vector<policy::Selector>& selectors) {
    using What = policy::Selector::What;
    return std::any_of(selectors.begin(), selectors.end(), [](const policy::Selector& selector) {
      return selector.what == What::Any || selector.what == What::AnyTenant ||
             selector.what == What::Tenant;
    });
  }

  void allowed_without_path() {
    std::map<std::string, Pairs> lost;
    for (const policy::Cell& cell : facts_.matrix.cells) {
      if (cell.everything || (is_reached(cell.from, cell.to) && is_reached(cell.to, cell.from)))
        continue;
      for (const policy::Piece& piece : cell.pieces)
        if (piece.action == Action::Allow)
          for (const std::string& id : piece.rules)
            lost[id].add(cell.from, cell.to);
    }
    for (const policy::Flow& flow : facts_.policy.flows) {
      const auto found = lost.find(flow.id);
      if (found == lost.end() || is_broad(flow.from) || is_broad(flow.to))
        continue;
      const Pairs& pairs = found->second;
      const bool there = is_reached(pairs.from, pairs.to);
      diagnostics_.warning(
          "no-path", flow.at,
          fmt::format(
              "{} allows {} to {}, but {}: {}{}", flow.id, universe_.classes[pairs.from].name,
              universe_.classes[pairs.to].name,
              there ? "its replies have no way back" : "there is no way",
              (there ? coverage_.at(pairs.to, pairs.from) : coverage_.at(pairs.from, pairs.to))
                  .reason,
              and_more(pairs)),
          "add the route leak, the gateway or the leg, or drop the flow");
    }
  }

  const CoverageFacts& facts_;
  const Coverage& coverage_;
  const policy::Universe& universe_;
  Diagnostics& diagnostics_;
};

}  // namespace

void report_coverage(const CoverageFacts& facts, const Coverage& coverage,
                     Diagnostics& diagnostics) {
  Findings(facts, coverage, diagnostics).report();
}

}  // namespace bulkhead::compiler
