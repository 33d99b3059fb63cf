// A service set as nftables: few pieces are rules of the destination's chain, many are a map keyed
// port first. Also the DHCP and multicast exceptions that links need.
#pragma once

#include <string>

#include "compiler/ir.h"
#include "compiler/targets/nft_text.h"

namespace bulkhead::compiler {

// Up to so many pieces of a kind are rules, more are a map. A map of its own for each pair of
// classes costs the kernel more than a rule: it finds a set by walking all sets of the table, so
// 20,000 maps take 75 s to load (6.18), and 20,000 rules one.
inline constexpr std::size_t kRulesInChain = 8;

// The maps that `set` needs, named by `number`. Returns the number of elements written.
std::size_t service_maps(NftText& text, NftComments& comments, const ir::ServiceSet& set,
                         ir::Index number);
// The rules of the chain, each after `bound` ("oifname "eth1" "). What no rule takes returns to the
// class's chain. Returns the number of rules that carry a rule id.
std::size_t service_rules(NftText& text, NftComments& comments, const ir::ServiceSet& set,
                          ir::Index number, const std::string& bound);
// One rule of input (`inbound`) or output, without its leg; empty where the need says nothing of
// that direction.
[[nodiscard]] std::string link_rule(NftComments& comments, const ir::LinkNeed& need, bool inbound);

}  // namespace bulkhead::compiler
