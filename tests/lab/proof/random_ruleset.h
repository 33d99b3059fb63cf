// Random rulesets out of one small world (random_words.h), so that random packets meet them often.
#pragma once

#include <string>
#include <vector>

#include "dice.h"

namespace bulkhead::test {

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

}  // namespace bulkhead::test
