#include "compiler/proof/difference.h"

#include <fmt/format.h>

#include <algorithm>

namespace bulkhead::compiler::proof {

namespace {

bool are_alike(const Difference& a, const Difference& b) {
  return a.effect == b.effect && a.passage == b.passage && a.box == b.box;
}

std::string name_of_rule(const Ruleset& ruleset, const Step& step) {
  const std::string chain = chain_name(ruleset, step.chain);
  if (step.rule == kNone)
    return chain;
  const Rule& rule = ruleset.chains[step.chain].rules[step.rule];
  return rule.comment.empty()
             ? fmt::format("{}, rule {}", chain, step.rule + 1)
             : fmt::format("{}, rule {} \"{}\"", chain, step.rule + 1, rule.comment);
}

// The set with packets in it that no kernel shows, where that makes its boxes fewer: answers to
// nothing, and fragment headers without a fragment.
Diagram simplified(Diagrams& space, Diagram set) {
  const Diagram is_new = space.equal(Field::CtState, static_cast<Value>(CtState::New));
  const Diagram any_way =
      space.if_then_else(is_new, space.fix(set, Field::CtDirection, kOriginal), set);
  return space.exists(any_way, Field::FragmentHeader);
}

}  // namespace

std::string_view to_string(Effect effect) {
  switch (effect) {
    case Effect::Opens:
      return "opens";
    case Effect::MayOpen:
      return "may open";
    case Effect::Closes:
      return "closes";
    case Effect::MayClose:
      return "may close";
    case Effect::Unknown:
      return "unknown";
  }
  return "";
}

std::vector<std::string> way_of(const Ruleset& ruleset, const Packet& packet, Passage passage) {
  const auto way = stations(passage);
  const TableFamily family = family_of(packet);
  std::vector<Station> here;
  for (Station station : way) {
    if (station.family == TableFamily::Inet)
      station.family = family;
    here.push_back(station);
  }
  const Answer answer = interpret(ruleset, packet, here);
  std::vector<std::string> out;
  if (answer.runs.empty())
    return out;
  for (const Step& step : answer.runs.front().steps)
    out.push_back(name_of_rule(ruleset, step) + ": " + step.what);
  for (const std::string& because : answer.runs.front().because)
    out.push_back(because);
  return out;
}

Differences differences(Diagrams& space, const Comparison& comparison, const Ruleset& ruleset,
                        const Naming& naming, std::size_t limit) {
  Differences out;
  const std::pair<Effect, Diagram> sets[] = {{Effect::Opens, comparison.opens},
                                             {Effect::MayOpen, comparison.may_open},
                                             {Effect::Closes, comparison.closes},
                                             {Effect::MayClose, comparison.may_close},
                                             {Effect::Unknown, comparison.unknown}};
  // New connections first: what is open to them matters most, and would drown in larger sets.
  const Diagram is_new = space.equal(Field::CtState, static_cast<Value>(CtState::New));
  std::vector<std::pair<Effect, Diagram>> parts;
  for (const auto& [effect, set] : sets) {
    parts.emplace_back(effect, space.intersect(set, is_new));
    parts.emplace_back(effect, space.subtract(set, is_new));
  }
  for (const auto& [effect, set] : parts) {
    const Boxes found = boxes(space, simplified(space, set), limit);
    out.complete &= found.complete;
    for (const Box& box : found.boxes)
      for (const Family family : families(box)) {
        const Diagram of_family = space.equal(Field::Family, family == Family::V4 ? kIpv4 : kIpv6);
        const Diagram here = space.intersect(set, space.intersect(to_set(space, box), of_family));
        auto example = example_of(space, here);
        if (!example)
          continue;
        Difference next{
            effect, comparison.passage, {family}, naming.name(box, family), std::move(*example), {},
            {}};
        const auto alike =
            std::find_if(out.list.begin(), out.list.end(),
                         [&](const Difference& known) { return are_alike(known, next); });
        if (alike != out.list.end()) {
          if (alike->families.back() != family)
            alike->families.push_back(family);
          continue;
        }
        next.rules = way_of(ruleset, next.example.packet, comparison.passage);
        out.list.push_back(std::move(next));
      }
  }
  return out;
}

}  // namespace bulkhead::compiler::proof
