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

// Why a text does not load, asked once more after run_nft() failed, and told with the lines of the
// file `name`: from a buffer nft 1.0.6 tells no line, and quotes the first one whichever is meant.
// A usage error where the text is to blame, an environment error where the kernel refused.
[[nodiscard]] Error why_not_loaded(const std::string& text, const std::string& name,
                                   const Error& first);

}  // namespace bulkhead::enforcement
