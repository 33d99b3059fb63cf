// Table `inet bulkhead` of one network namespace of this machine. Tables of others are listed,
// since they decide too, and never written.
#pragma once

#include <memory>
#include <string>

#include "enforcement/backend.h"

namespace bulkhead::enforcement {

// "" is the caller's own namespace.
[[nodiscard]] std::unique_ptr<Backend> nft_backend(std::string netns_path);

// The change that takes our table away, and is one also where there is none.
[[nodiscard]] std::string no_table();

}  // namespace bulkhead::enforcement
