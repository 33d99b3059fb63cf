// Random rulesets and random packets out of one small world, so that they meet often: the same few
// addresses, ports, marks and names in both, and the values just beside them.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "compiler/proof/packet_bytes.h"
#include "kernel.h"

namespace bulkhead::test {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  [[nodiscard]] std::size_t below(std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>(0, bound - 1)(engine_);
  }
  [[nodiscard]] bool chance(unsigned percent) { return below(100) < percent; }
  template <class T, std::size_t N>
  [[nodiscard]] const T& one_of(const T (&choices)[N]) {
    return choices[below(N)];
  }
  template <class T>
  [[nodiscard]] const T& one_of(const std::vector<T>& choices) {
    return choices[below(choices.size())];
  }

 private:
  std::mt19937_64 engine_;
};

// In lines, one rule a line, so that a shrinker can leave lines out. Chains and sets that rules
// name are always there.
struct RandomRuleset {
  struct Chain {
    std::string family, table, name, base;  // base: "type filter hook ..." or empty
    std::vector<std::string> rules;
  };
  std::vector<Chain> chains;
  bool uses_conntrack = false;  // fragments are put together before the hooks then
  [[nodiscard]] std::string text() const;
};
[[nodiscard]] RandomRuleset random_ruleset(Dice& dice);

struct Shot {
  bool goes_on = false;  // a packet of a connection that is there already
  bool as_reply = false;
  std::size_t which = 0;
  compiler::proof::PacketFacts facts;  // of a new one; flags and types of one that goes on
};
[[nodiscard]] std::vector<Shot> random_shots(Dice& dice, std::size_t count, bool fragments);

}  // namespace bulkhead::test
