// Where chains lead: checked once after reading, so that every walk over a ruleset ends.
#pragma once

#include <vector>

#include "compiler/proof/ruleset.h"
#include "policy/support/result.h"

namespace bulkhead::compiler::proof {

// The kernel's own limit (NFT_JUMP_STACK_SIZE).
inline constexpr unsigned kDeepestJump = 16;

// Environment error, naming the chain, where jumps or gotos come back to their own chain, or go
// deeper from a base chain than the kernel allows. Linear in rules and map elements.
[[nodiscard]] Status check_jumps(const Ruleset& ruleset);

}  // namespace bulkhead::compiler::proof
