// The rules of one chain for one packet: statements, jumps and sets, as nft_do_chain() walks them.
// Below the interpreter, which brings the packet to the base chains.
#pragma once

#include "compiler/proof/journey.h"

namespace bulkhead::compiler::proof {

// How a rule or a chain ended.
enum class Flow : std::uint8_t {
  Next,    // the rule is done, or did not match; of a chain: its end
  Return,  // back to the calling chain
  Accept,
  Drop,
  Reject,
  Queue,
  Unknown,
};

// Jumps are followed by recursion: at most sixteen deep in a parsed ruleset.
[[nodiscard]] Flow walk_chain(Journey& journey, Index chain);

}  // namespace bulkhead::compiler::proof
