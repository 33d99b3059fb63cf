// RoCEv2 by its own header: the base transport header (BTH) follows UDP 4791.
#pragma once

#include "compiler/ir.h"
#include "compiler/targets/nft_text.h"

namespace bulkhead::compiler {

// Returns the number of rules that carry a rule id.
std::size_t roce_rules(NftText& text, NftComments& comments, const ir::RoceTarget& target,
                       const std::string& bound);

}  // namespace bulkhead::compiler
