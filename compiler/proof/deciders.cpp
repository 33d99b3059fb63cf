#include "compiler/proof/deciders.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/proof/strands.h"

namespace bulkhead::compiler::proof {

namespace {

bool is_stopped(const Way& way) {
  return way.end == End::Drop || way.end == End::Reject;
}

// Who gives a packet a value that is not known: an address out of a range.
RuleRef rule_of_change(const Ending& ending) {
  for (const Way& way : ending.ways)
    for (const Change& change : way.changes)
      if (!change.value && !change.copy && change.by.chain != kNone)
        return change.by;
  return {};
}

RuleRef decider(const Ending& ending, Deciders::Of of) {
  if (of == Deciders::Of::Unknown || outcome_of(ending) == Outcome::Unknown)
    return ending.unknown.empty() ? rule_of_change(ending) : ending.unknown.front();
  const bool stopped = of == Deciders::Of::Stopped;
  const auto way = std::find_if(ending.ways.begin(), ending.ways.end(), [&](const Way& candidate) {
    return is_stopped(candidate) == stopped;
  });
  return way == ending.ways.end() ? RuleRef{} : way->by.value_or(RuleRef{});
}

}  // namespace

Deciders::Deciders(Diagrams& space, const Ruleset& ruleset, Passage passage) : space_(space) {
  Symbolic rules(space, endings_, ruleset, Attribution::Rules);
  does_ = doing(rules, passage);
}

Deciders::Parts Deciders::split(Diagram set, Of of, std::size_t limit) {
  // Number 0 is outside of the set.
  std::map<RuleRef, Terminal> numbers;
  const Diagram inside = space_.if_then_else(
      set, space_.relabel(does_, [](Terminal t) { return t + 1; }), space_.constant(0));
  for (const Terminal terminal : space_.terminals(inside))
    if (terminal != 0)
      numbers.try_emplace(decider(endings_.at(terminal - 1), of), 0);
  // Those behind the limit are one before they are told apart: a set for each of 10,000 rules would
  // walk all of them each time.
  const auto rest = static_cast<Terminal>(limit + 1);
  Terminal next = 1;
  for (auto& [rule, number] : numbers)
    number = std::min(next++, rest);
  const Diagram by_rule = space_.relabel(
      inside, [&](Terminal t) { return t == 0 ? 0 : numbers.at(decider(endings_.at(t - 1), of)); });
  std::map<Terminal, Diagram> packets;
  for (const auto& [number, part] : proof::parts(space_, by_rule))
    packets[number] = part;
  Parts out;
  for (const auto& [rule, number] : numbers) {
    if (number < rest)
      out.list.push_back({rule, packets[number]});
    else
      ++out.rest_rules;
  }
  out.rest = packets[rest];
  return out;
}

std::string name_of(const Ruleset& ruleset, const RuleRef& rule) {
  if (rule.chain == kNone)
    return "no chain sees these packets, and the kernel lets them pass";
  const Chain& chain = ruleset.chains[rule.chain];
  const std::string name = chain_name(ruleset, rule.chain);
  if (rule.rule == kNone)
    return fmt::format("{}, policy {}", name,
                       chain.base && chain.base->policy_drop ? "drop" : "accept");
  const std::string& comment = chain.rules[rule.rule].comment;
  const std::string numbered = fmt::format("{}, rule {}", name, rule.rule + 1);
  return comment.empty() ? numbered : fmt::format("{} \"{}\"", numbered, comment);
}

std::string described(const Ruleset& ruleset, const RuleRef& rule) {
  const std::string name = name_of(ruleset, rule);
  if (rule.chain == kNone || rule.rule == kNone)
    return name;
  const std::string& text = ruleset.chains[rule.chain].rules[rule.rule].text;
  return text.empty() ? name : fmt::format("{}: {}", name, text);
}

}  // namespace bulkhead::compiler::proof
