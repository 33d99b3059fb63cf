// The kernel as parser of a ruleset that is not loaded anywhere: a throw-away network namespace
// loads the text and lists it back. What is listed is what the kernel would enforce.
#pragma once

#include <string>
#include <vector>

#include "enforcement/backends/nft_listing.h"
#include "policy/support/result.h"

namespace bulkhead::enforcement {

// `interfaces` are made in the namespace: rules that name one by its index (`iif eth0`) or hook to
// one (netdev) load only where it exists, and are listed with that name. Their numbers are none
// that a file may name: `iif 2` is listed as the number. Nothing outside the namespace is touched,
// and nothing of it is left.
//
// Works with CAP_SYS_ADMIN, else in a user namespace, where the kernel refuses a large ruleset.
// Never a shorter listing, but a usage error where the text is wrong (with nft's message and the
// line), and an environment error where no namespace can be made, where the kernel refuses what
// nft understood, where the text is too large for a user namespace, and where nft itself fails over
// the listing.
struct SandboxOptions {
  std::string name = "ruleset";  // of the file that the text is from, for messages
  bool with_text = false;        // fill NftListing::text too
};
[[nodiscard]] Result<NftListing> list_in_sandbox(const std::string& nft_text,
                                                 const std::vector<std::string>& interfaces,
                                                 const SandboxOptions& options = {});

}  // namespace bulkhead::enforcement
