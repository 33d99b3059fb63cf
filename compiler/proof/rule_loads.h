// Holds nft's listing against the kernel's rules. nft 1.0.6 leaves matches out of a listing that it
// takes for implied, some of them wrongly: `ip6 nexthdr tcp tcp dport 22` in an ip6 table is listed
// as `tcp dport 22`, `iiftype ether ip saddr ...` in an inet table as `ip saddr ...`. It joins
// `tcp sport != 5 tcp dport != 80` into one comparison, for which one of them is enough, and lists
// the two. The kernel tells which fields a rule loads; a rule that loads others than its listing
// says is not what it seems.
#pragma once

#include <string_view>

#include "compiler/proof/ruleset.h"

namespace bulkhead::compiler::proof {

// `loads` has a line a rule (enforcement/backends/nft_rule_loads.h). Comparisons that are one in the
// kernel become one here (Rule::joined). A rule that differs otherwise gets an Unmodelled condition
// in front, with the reason: it may match or not; where the kernel asks less than is listed, the
// listed conditions go. Returns how many did. Rules without a line are left alone.
std::size_t mark_unfaithful(Ruleset& ruleset, std::string_view loads);

}  // namespace bulkhead::compiler::proof
