// Sets of packets walked rule by rule, against the evaluation of all packets and the walk of one.
#include "compiler/proof/query.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "compiler/proof/reading.h"
#include "compiler/proof/trace.h"
#include "random_ruleset.h"
#include "told.h"

namespace bulkhead::compiler::proof::test {
namespace {

constexpr int kPackets = 40;
constexpr std::size_t kManySteps = 100'000;

using MakeWay = std::vector<Station> (*)(TableFamily);
constexpr MakeWay kWays[] = {forward_way, input_way, output_way};

bool took(const Trace& told, const Diagrams& space, const std::vector<Value>& packet,
          const Step& step) {
  return std::any_of(told.steps.begin(), told.steps.end(), [&](const TraceStep& known) {
    return known.hook == step.hook && known.chain == step.chain && known.rule == step.rule &&
           space.at(known.packets, packet) == 1;
  });
}

// Of an address that a redirection chose the interpreter follows both answers to every question.
bool guesses(const Run& run) {
  return std::any_of(run.because.begin(), run.because.end(),
                     [](const std::string& why) { return why.ends_with("is not known"); });
}

void hold(bool with_nat) {
  const Ruleset ruleset = any_ruleset(with_nat);
  const MakeWay make = kWays[*rc::gen::inRange(0, 3)];
  Diagrams space;
  Endings endings;
  Symbolic rules(space, endings, ruleset);
  const auto way = make(TableFamily::Inet);
  const Diagram all = rules.way(way);
  const Diagram ip = space.in(Field::Family, {kIpv4, kIpv6});
  const Trace walked = trace(space, endings, rules, ruleset, way, ip, kManySteps);
  RC_ASSERT(walked.complete);
  for (const Terminal terminal : space.terminals(all)) {
    const Diagram here = space.intersect(ip, space.where(all, terminal));
    const Outcome outcome = outcome_of(endings.at(terminal));
    if (outcome == Outcome::Accept)
      RC_ASSERT(space.is_subset(here, walked.arrives));
    // Whether a connection was translated before is a doubt that a walk does not put together
    // again: then more may arrive than does (trace.h).
    if (!with_nat && (outcome == Outcome::Drop || outcome == Outcome::Reject))
      if (space.intersect(here, walked.arrives) != space.nothing())
        RC_FAIL(told(ruleset) + "a packet that is dropped arrives");
  }
  for (int i = 0; i < kPackets; ++i) {
    const Packet packet = any_packet(with_nat);
    const TableFamily family = packet.ethertype == kEtherIp ? TableFamily::Ip : TableFamily::Ip6;
    const Answer answer = interpret(ruleset, packet, make(family));
    const std::vector<Value> values = values_of(packet);
    // Of translated connections the interpreter knows what the fields of a packet do not say.
    if (with_nat && packet.connection && packet.connection->status != 0)
      continue;
    for (const Run& run : answer.runs) {
      if (with_nat && guesses(run))
        continue;
      for (const Step& step : run.steps)
        if (!took(walked, space, values, step) &&
            (step.rule == kNone || !may_be_left(ruleset.chains[step.chain].rules[step.rule])))
          RC_FAIL(told(ruleset) + told(ruleset, packet, answer) +
                  "\nnot told: " + std::string(to_string(step.hook)) + ' ' +
                  chain_name(ruleset, step.chain) + " rule " + std::to_string(step.rule) + ": " +
                  step.what + ", state " + std::to_string(packet.ct_state) + ", priority " +
                  std::to_string(ruleset.chains[step.chain].base
                                     ? ruleset.chains[step.chain].base->priority
                                     : 0));
    }
  }
}

RC_GTEST_PROP(Trace, TellsEachRuleThatTakesAPacket, ()) {
  hold(false);
}

RC_GTEST_PROP(Trace, TellsTranslationsToo, ()) {
  hold(true);
}

RC_GTEST_PROP(Query, AnswersForAllPacketsAsTheInterpreterForEach, ()) {
  const Ruleset ruleset = any_ruleset(false);
  Diagrams space;
  Question question;
  question.passage = kPassages[*rc::gen::inRange(0, 3)];
  if (*rc::gen::inRange(0, 2) == 1)
    question.ports = {{22, 80}};
  if (*rc::gen::inRange(0, 2) == 1)
    question.state = CtState::New;
  const auto parts = query(space, ruleset, question, Naming(nullptr), {1, 10});
  RC_PRE(parts.has_value());
  for (const QueryPart& part : parts->parts) {
    RC_ASSERT(part.example.has_value());
    if (!part.example->is_exact)
      continue;
    std::vector<Station> way;
    for (Station station : stations(question.passage))
      way.push_back(
          {station.family == TableFamily::Inet ? family_of(part.example->packet) : station.family,
           station.hook});
    const Answer answer = interpret(ruleset, part.example->packet, way);
    if (answer.outcome != part.outcome &&
        !(answer.outcome == Outcome::Unknown && part.outcome == Outcome::Either))
      RC_FAIL("the query says " + std::string(to_string(part.outcome)) + '\n' + told(ruleset) +
              told(ruleset, part.example->packet, answer));
  }
}

}  // namespace
}  // namespace bulkhead::compiler::proof::test
