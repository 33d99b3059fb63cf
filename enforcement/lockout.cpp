#include "enforcement/lockout.h"

#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <set>

#include "compiler/proof/query.h"

namespace bulkhead::enforcement {

namespace {

namespace proof = compiler::proof;

constexpr std::uint16_t kSshPort = 22;

AddressSet only(const Address& address) {
  return AddressSet::from({{address, address}});
}

// How a question is answered by a ruleset; `rule` is the one that stops it.
struct Answered {
  bool passes = false;
  std::string packet, rule;
};

Answered ask(const proof::Ruleset& rules, const proof::Question& question,
             const proof::Naming& naming) {
  proof::Diagrams space;
  const auto answer = proof::query(space, rules, question, naming, {1, 1});
  if (!answer)
    return {false, "a packet that cannot be", "no rule"};
  Answered out;
  out.passes = answer->passes == proof::Passes::All;
  for (const proof::QueryPart& part : answer->parts) {
    if (part.outcome == proof::Outcome::Accept)
      continue;
    if (part.example)
      out.packet = to_string(*part.example);
    out.rule = part.way.empty() ? "an unknown rule" : part.way.back();
    break;
  }
  return out;
}

proof::Question to_session(const SshSession& session, const std::string& interface) {
  proof::Question out;
  out.passage = proof::Passage::Input;
  out.from = only(session.client);
  out.to = only(session.server);
  out.protocols = {{IPPROTO_TCP, IPPROTO_TCP}};
  out.source_ports = {{session.client_port, session.client_port}};
  out.ports = {{session.server_port, session.server_port}};
  out.in = {interface};
  out.state = proof::CtState::Established;
  return out;
}

proof::Question from_session(const SshSession& session, const std::string& interface) {
  proof::Question out = to_session(session, interface);
  out.passage = proof::Passage::Output;
  std::swap(out.from, out.to);
  std::swap(out.ports, out.source_ports);
  out.in.clear();
  out.out = {interface};
  out.is_reply = true;
  return out;
}

bool allows_ssh(const policy::Cell& cell) {
  return std::any_of(cell.pieces.begin(), cell.pieces.end(), [](const policy::Piece& piece) {
    return piece.action == policy::Action::Allow && piece.key.kind == policy::Kind::Tcp &&
           piece.ports.first <= kSshPort && kSshPort <= piece.ports.last;
  });
}

struct WayIn {
  std::string from;  // class
  proof::Question question;
};

void add_ways(const Target& target, std::vector<WayIn>& out) {
  const policy::Universe& universe = target.site->matrix.universe;
  for (const compiler::LegBinding& binding : target.view->bindings) {
    const policy::Cell* const cell = target.site->matrix.find(binding.cls, target.view->self);
    if (cell == nullptr || !allows_ssh(*cell))
      continue;
    for (const Family family : kFamilies) {
      WayIn way;
      way.from = universe.classes[binding.cls].name;
      way.question.passage = proof::Passage::Input;
      way.question.from = of_family(universe.classes[binding.cls].addresses, family);
      way.question.to = of_family(universe.classes[target.view->self].addresses, family);
      way.question.protocols = {{IPPROTO_TCP, IPPROTO_TCP}};
      way.question.ports = {{kSshPort, kSshPort}};
      way.question.in = {binding.interface};
      way.question.state = proof::CtState::New;
      if (!way.question.from.empty() && !way.question.to.empty())
        out.push_back(std::move(way));
    }
  }
}

class Finder {
 public:
  Finder(const proof::Ruleset& live, const proof::Ruleset& next, const proof::Naming& naming)
      : live_(live), next_(next), naming_(naming) {}

  void look(const std::string& what, const proof::Question& question) {
    const Answered after = ask(next_, question, naming_);
    if (!after.passes && ask(live_, question, naming_).passes && said_.insert(what).second)
      found.push_back(fmt::format("{}: {} would be stopped by {}", what, after.packet, after.rule));
  }

  std::vector<std::string> found;

 private:
  const proof::Ruleset& live_;
  const proof::Ruleset& next_;
  const proof::Naming& naming_;
  std::set<std::string> said_;
};

}  // namespace

Result<std::vector<std::string>> lockouts(const Snapshot& live, const Target& target,
                                          const Target* last) {
  const auto now = rules_of(live);
  if (!now)
    return fail(now.error());
  const auto next = rules_with(live, target.change);
  if (!next)
    return fail(next.error());
  const proof::Naming naming(target.site.get(), target.view);
  Finder finder(*now, *next, naming);
  try {
    for (const SshSession& session : ssh_sessions()) {
      const std::string interface = interface_towards(session.client);
      const std::string what =
          fmt::format("the ssh session from {} port {}", session.client.str(), session.client_port);
      finder.look(what, to_session(session, interface));
      finder.look(what, from_session(session, interface));
    }
    std::vector<WayIn> ways;
    for (const Target* policy : {&target, last})
      if (policy != nullptr && policy->site)
        add_ways(*policy, ways);
    for (const WayIn& way : ways)
      finder.look(fmt::format("ssh from {} to this machine", way.from), way.question);
  } catch (const proof::OutOfBudget& error) {
    return fail(ErrorKind::Environment,
                fmt::format("whether this locks you out is too much to decide: {}", error.what()));
  }
  return std::move(finder.found);
}

}  // namespace bulkhead::enforcement
