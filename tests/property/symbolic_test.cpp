// The evaluation for all packets against the walk of one packet: two readings of the same rules
// that share only the types.
#include "compiler/proof/symbolic.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "compiler/proof/reading.h"
#include "random_ruleset.h"
#include "told.h"

namespace bulkhead::compiler::proof::test {
namespace {

constexpr int kPackets = 60;

bool is_decided(Outcome outcome) {
  return outcome != Outcome::Either && outcome != Outcome::Unknown;
}

void hold_against_each_other(bool with_nat) {
  const Ruleset ruleset = any_ruleset(with_nat);
  Diagrams space;
  Endings endings;
  Symbolic symbolic(space, endings, ruleset);
  using Way = std::vector<Station> (*)(TableFamily);
  constexpr Way kWays[] = {forward_way, input_way, output_way};
  const Way make = kWays[*rc::gen::inRange(0, 3)];
  const auto all4 = symbolic.way(make(TableFamily::Ip));
  const auto all6 = symbolic.way(make(TableFamily::Ip6));
  const bool translates = std::any_of(
      ruleset.chains.begin(), ruleset.chains.end(),
      [](const Chain& chain) { return chain.base && chain.base->type == ChainType::Nat; });
  for (int i = 0; i < kPackets; ++i) {
    const Packet packet = any_packet(translates);
    const bool v4 = packet.ethertype == kEtherIp;
    const Answer answer = interpret(ruleset, packet, make(v4 ? TableFamily::Ip : TableFamily::Ip6));
    const Terminal terminal = space.at(v4 ? all4 : all6, values_of(packet));
    const Outcome got = outcome_of(endings.at(terminal));
    // Of translated connections the symbolic evaluation may know less, but never otherwise.
    const bool fine = got == answer.outcome ||
                      (answer.outcome == Outcome::Unknown && got == Outcome::Either) ||
                      (with_nat && !is_decided(got));
    if (!fine)
      RC_FAIL("for all packets: " + std::string(to_string(got)) +
              ", for this one: " + std::string(to_string(answer.outcome)) + '\n' + told(ruleset) +
              told(ruleset, packet, answer));
  }
}

RC_GTEST_PROP(Symbolic, SaysWhatTheInterpreterSays, ()) {
  hold_against_each_other(false);
}

RC_GTEST_PROP(Symbolic, TranslationsAreNeverSaidOtherwise, ()) {
  hold_against_each_other(true);
}

}  // namespace
}  // namespace bulkhead::compiler::proof::test
