// Are two rulesets one function of packets? Stricter than ruleset_diff.h: the same verdict and the
// same translation for every packet that can be written down, also for those that no kernel shows
// to these rules. For a ruleset that was read in two ways.
#pragma once

#include <string_view>

#include "compiler/proof/ruleset.h"
#include "compiler/proof/symbolic.h"

namespace bulkhead::compiler::proof {

// In forward, input and output. What a rule outside the model decides is the same as nothing. May
// throw OutOfBudget.
[[nodiscard]] bool are_same(const Ruleset& a, const Ruleset& b, const Budget& budget = {});

// The ruleset as if no packet met any other table.
[[nodiscard]] Ruleset table_alone(Ruleset ruleset, TableFamily family, std::string_view name);
[[nodiscard]] bool has_table(const Ruleset& ruleset, TableFamily family, std::string_view name);

}  // namespace bulkhead::compiler::proof
