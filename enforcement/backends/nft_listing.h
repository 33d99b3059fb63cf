// What is loaded in one network namespace of this machine, as the kernel and nft list it. Only
// read.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "policy/support/result.h"

namespace bulkhead::enforcement {

struct NftListing {
  std::string json;  // as of `nft -j list ruleset`
  // Tables that are dormant ("ip old") and not in the listing: they do nothing, and nft 1.0.6 lists
  // the flag as garbage that breaks the JSON.
  std::vector<std::string> dormant;
  std::string loads;  // what the rules look at (nft_rule_loads.h)
  std::string text;   // as of `nft -a list ruleset`, where it was asked for
};

// Runs `work` in a child and brings back what it gives. A child, and not a thread: a process with
// threads cannot make a user namespace, and nft may end its process over a listing
// (nft_library.h); that is an Environment error here.
[[nodiscard]] Result<NftListing> list_in_child(const std::function<Result<NftListing>()>& work);

// Of the calling thread's network namespace. Not within our process: see list_in_child().
[[nodiscard]] Result<NftListing> list_ruleset(bool with_text = false);

// Of the network namespace at a path ("": the caller's own), in a child. Environment error where it
// cannot be listed as a whole: a dormant table, which cannot be taken out of a ruleset that is in
// use, is one.
[[nodiscard]] Result<NftListing> list_netns(const std::string& netns_path);

}  // namespace bulkhead::enforcement
