// What lint says of rules, held against the walk of single packets.
#include "compiler/lint/lint.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "compiler/proof/interpret.h"
#include "compiler/proof/prove.h"
#include "compiler/proof/reading.h"
#include "random_ruleset.h"
#include "told.h"

namespace bulkhead::compiler::proof::test {
namespace {

constexpr int kPackets = 60;

std::vector<Station> way_of(const Packet& packet, Passage passage) {
  using MakeWay = std::vector<Station> (*)(TableFamily);
  const MakeWay make = passage == Passage::Forward ? forward_way
                       : passage == Passage::Input ? input_way
                                                   : output_way;
  return make(packet.ethertype == kEtherIp ? TableFamily::Ip : TableFamily::Ip6);
}

using Rules = std::set<std::pair<Index, Index>>;
Rules rules_of(const lint::Answer& answer, std::set<std::string_view> codes) {
  Rules out;
  for (const lint::Finding& finding : answer.findings)
    if (codes.contains(finding.code) && finding.rule != kNone)
      out.insert({finding.chain, finding.rule});
  return out;
}

// A forwarded packet has no socket.
bool is_shown(const Diagrams& space, Diagram can_be, const Packet& packet, Passage passage) {
  return space.at(can_be, values_of(packet)) != 0 && (passage != Passage::Forward || !packet.uid);
}

RC_GTEST_PROP(Lint, NoPacketIsTakenByARuleThatNeverMatches, (bool with_nat)) {
  const Ruleset ruleset = any_ruleset(with_nat);
  const Rules dead = rules_of(lint::lint(ruleset), {"shadowed", "never-matches"});
  Diagrams space;
  const Passage passage = kPassages[*rc::gen::inRange(0, 3)];
  const Diagram can_be = possible(space, ruleset, passage);
  for (int i = 0; i < kPackets; ++i) {
    const Packet packet = any_packet(with_nat);
    // Packets by chance are also such as no kernel shows: without a device, new replies.
    if (!is_shown(space, can_be, packet, passage))
      continue;
    const Answer answer = interpret(ruleset, packet, way_of(packet, passage));
    for (const Run& run : answer.runs)
      for (const Step& step : run.steps)
        if (dead.contains({step.chain, step.rule}) &&
            !may_be_left(ruleset.chains[step.chain].rules[step.rule]))
          RC_FAIL(told(ruleset) + told(ruleset, packet, answer) + "\ntaken by chain " +
                  std::to_string(step.chain) + " rule " + std::to_string(step.rule));
  }
}

RC_GTEST_PROP(Lint, PacketsDoNotMissARuleWithoutEffect, ()) {
  const Ruleset ruleset = any_ruleset(false);
  Diagrams space;
  const Passage passage = kPassages[*rc::gen::inRange(0, 3)];
  const Diagram can_be = possible(space, ruleset, passage);
  for (const auto& [chain, rule] : rules_of(lint::lint(ruleset), {"no-effect", "shadowed"})) {
    Ruleset without = ruleset;
    auto& rules = without.chains[chain].rules;
    rules.erase(rules.begin() + static_cast<std::ptrdiff_t>(rule));
    for (int i = 0; i < kPackets; ++i) {
      const Packet packet = any_packet(false);
      if (!is_shown(space, can_be, packet, passage))
        continue;
      const auto way = way_of(packet, passage);
      RC_ASSERT(interpret(ruleset, packet, way).outcome == interpret(without, packet, way).outcome);
    }
  }
}

}  // namespace
}  // namespace bulkhead::compiler::proof::test
