// libnftables as one function. Below the backends.
#pragma once

#include <string>

#include "policy/support/result.h"

namespace bulkhead::enforcement {

// What nft prints for the command, in the calling thread's network namespace: its netlink socket is
// opened here. One call at a time in this process. `output_flags` are NFT_CTX_OUTPUT_*.
//
// nft 1.0.6 ends the process with an assertion where it lists an interval set that holds two
// neighbouring wildcard names ("a*", "b*") as JSON. Who lists rules of others calls this in a
// child.
[[nodiscard]] Result<std::string> run_nft(const std::string& command, bool dry_run,
                                          unsigned output_flags);

}  // namespace bulkhead::enforcement
