// `nft -j list ruleset` -> Ruleset. The kernel and nft are the parser of rulesets; this reads what
// they list (libnftables JSON, schema 1; every shape was seen from nft 1.0.6).
//
// What single expressions mean outside the model is Unmodelled in its rule. What makes the listing
// as a whole untrustworthy is an error: it is cut off, is no listing, names chains or sets that are
// not there, or its jumps loop. An error is never an empty ruleset.
//
// Known gaps of nft 1.0.6's listing, carried so that nothing false is said:
//   - flags of a table are garbage (or break the JSON): Table::maybe_dormant
//   - devices of netdev chains are missing: BaseChain::devices is empty
//   - matches that it takes for implied are left out, some wrongly: `ip6 nexthdr tcp tcp dport 22`
//   in
//     an ip6 table, `meta l4proto icmp icmp type echo-request`, `iiftype ether ip saddr ...` and
//     `ct l3proto ipv4 reject` in an inet table, `meta protocol ip6 ip saddr ...` in an ip table.
//     They are read as listed; mark_unfaithful() (rule_loads.h) finds them with the kernel's help.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "compiler/proof/ruleset.h"
#include "policy/support/result.h"

namespace bulkhead::compiler::proof {

// Linear in the text but for names (a hash lookup each). Environment errors.
[[nodiscard]] Result<Ruleset> parse_ruleset(std::string_view json);
// The same of a file that compiler/targets wrote, without nft (written_text.h). Rules have no
// handles.
[[nodiscard]] Result<Ruleset> parse_written_ruleset(std::string_view nft_text);

// Adds tables that a listing leaves out because they are dormant ("ip old"): without their chains,
// which do nothing.
void add_dormant_tables(Ruleset& ruleset, std::span<const std::string> names);

}  // namespace bulkhead::compiler::proof
