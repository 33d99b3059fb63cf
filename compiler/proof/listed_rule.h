// The expressions of one listed rule -> statements. Part of parse_ruleset.
#pragma once

#include "compiler/proof/listed_sets.h"

namespace bulkhead::compiler::proof {

// `json` is {"family": ..., "chain": ..., "expr": [...]}. Never fails: what is not understood
// becomes Unmodelled. Anonymous sets are appended to ruleset.sets.
[[nodiscard]] Rule read_rule(const Json& json, Index table, Names& names, Ruleset& ruleset);

}  // namespace bulkhead::compiler::proof
