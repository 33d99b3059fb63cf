// The kernel as parser of a ruleset that is not loaded anywhere: a throw-away network namespace
// loads the text and lists it back. What is listed is what the kernel would enforce.
#pragma once

#include <string>
#include <vector>

#include "enforcement/backends/nft_listing.h"
#include "policy/support/result.h"

namespace bulkhead::enforcement {

// `interfaces` are made in the namespace: rules that name one by its index (`iif eth0`) or hook to
// one (netdev) load only where it exists. Nothing outside the namespace is touched, and nothing of
// it is left.
//
// Works with CAP_SYS_ADMIN, else in a user namespace, where the kernel refuses a large ruleset.
// Environment error, never a shorter listing: where no namespace can be made, where the text does
// not load (with nft's message), where it is too large for a user namespace, and where nft itself
// fails over the listing.
[[nodiscard]] Result<NftListing> list_in_sandbox(const std::string& nft_text,
                                                 const std::vector<std::string>& interfaces);

}  // namespace bulkhead::enforcement
