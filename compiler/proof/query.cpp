#include "compiler/proof/query.h"

#include <array>
#include <set>

#include "compiler/proof/difference.h"
#include "compiler/proof/rule_text.h"

namespace bulkhead::compiler::proof {

namespace {

constexpr std::array kOutcomes{Outcome::Accept, Outcome::Drop, Outcome::Reject, Outcome::Either,
                               Outcome::Unknown};

struct Sorted {
  Diagram packets;
  std::set<RuleRef> unknown;
};

Passes passes_of(const std::array<Sorted, kOutcomes.size()>& sorted, Diagram asked,
                 Diagram nothing) {
  const auto of = [&](Outcome outcome) {
    return sorted[static_cast<std::size_t>(outcome)].packets;
  };
  if (of(Outcome::Unknown) != nothing)
    return Passes::Unknown;
  if (of(Outcome::Accept) == asked)
    return Passes::All;
  return of(Outcome::Accept) == nothing && of(Outcome::Either) == nothing ? Passes::No
                                                                          : Passes::Some;
}

std::string verdict_of(const Ruleset& ruleset, const TraceStep& step) {
  switch (step.end) {
    case End::Drop:
      return "drop";
    case End::Accept:
      return "accept";
    case End::Return:
      return "return";
    case End::Reject:
      return "reject";
    case End::Queue:
      return "queue: a program decides";
    case End::Unknown:
      return "not known";
    case End::Jump:
      return "jump " + ruleset.chains[step.to].name;
    case End::Goto:
      return "goto " + ruleset.chains[step.to].name;
    case End::Done:
    case End::Continue:
      break;
  }
  return "goes on";
}

}  // namespace

std::string_view to_string(Passes passes) {
  constexpr std::array<std::string_view, 4> kNames{"all", "some", "none", "unknown"};
  return kNames[static_cast<std::size_t>(passes)];
}

std::optional<QueryAnswer> query(Diagrams& space, const Ruleset& ruleset, const Question& question,
                                 const Naming& naming, const QueryLimits& limits) {
  const Diagram set = asked(space, ruleset, question);
  if (set == space.nothing())
    return std::nullopt;
  Endings endings;
  Symbolic rules(space, endings, ruleset);
  const std::vector<Station> way = stations(question.passage);

  std::array<Sorted, kOutcomes.size()> sorted;
  const Diagram does = space.if_then_else(set, rules.way(way), space.constant(kMaxTerminal));
  for (const auto& [terminal, packets] : parts(space, does)) {
    if (terminal == kMaxTerminal)
      continue;
    const Ending& ending = endings.at(terminal);
    Sorted& here = sorted[static_cast<std::size_t>(outcome_of(ending))];
    here.packets = space.unite(here.packets, packets);
    here.unknown.insert(ending.unknown.begin(), ending.unknown.end());
  }

  QueryAnswer out;
  out.question = question;
  out.passes = passes_of(sorted, set, space.nothing());
  for (const Outcome outcome : kOutcomes) {
    const Sorted& here = sorted[static_cast<std::size_t>(outcome)];
    if (here.packets == space.nothing())
      continue;
    QueryPart part;
    part.outcome = outcome;
    part.portion = portion(space, here.packets, set, naming, limits.boxes);
    part.example = example_of(space, here.packets);
    if (part.example)
      part.way = way_of(ruleset, part.example->packet, question.passage);
    if (outcome == Outcome::Unknown)
      for (const RuleRef& ref : here.unknown)
        if (ref.chain != kNone)
          part.unknown.push_back(ref.rule == kNone ? chain_name(ruleset, ref.chain)
                                                   : rule_name(ruleset, ref.chain, ref.rule));
    out.parts.push_back(std::move(part));
  }

  Trace told = trace(space, endings, rules, ruleset, way, set, limits.steps);
  out.complete = told.complete;
  for (TraceStep& step : told.steps) {
    QueryStep next;
    next.verdict = verdict_of(ruleset, step);
    next.rule = step.rule == kNone
                    ? "policy " + next.verdict
                    : rule_text(ruleset, ruleset.chains[step.chain].rules[step.rule]);
    next.portion = portion(space, step.packets, set, naming, 2);
    next.step = std::move(step);
    out.steps.push_back(std::move(next));
  }
  return out;
}

}  // namespace bulkhead::compiler::proof
