// What every rule in the kernel really looks at, for compiler/proof to hold against nft's listing,
// which leaves some of it out (compiler/proof/rule_loads.h).
#pragma once

#include <string>

#include "policy/support/result.h"

namespace bulkhead::enforcement {

// Of the calling thread's network namespace; a line a rule:
//   FAMILY TABLE CHAIN HANDLE [meta:KEY | ct:KEY | payload:BASE:OFFSET:LENGTH | other:NAME]...
// with the kernel's own numbers (linux/netfilter/nf_tables.h), offsets and lengths in bytes.
[[nodiscard]] Result<std::string> rule_loads();

}  // namespace bulkhead::enforcement
