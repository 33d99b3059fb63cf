// Random damage to a compiled ruleset, one line at a time.
#pragma once

#include <optional>
#include <random>
#include <string>

namespace bulkhead::testing {

struct Mutation {
  std::string text;   // the whole ruleset, damaged
  std::string story;  // "flip line 130: ..."
};

// Nothing where the line that was chosen does not offer this kind of damage.
[[nodiscard]] std::optional<Mutation> mutate(const std::string& text, std::mt19937_64& random);

}  // namespace bulkhead::testing
