// Facts about the live tables that nft 1.0.6 does not list, asked of the kernel itself.
#pragma once

#include <string>
#include <vector>

#include "policy/support/result.h"

namespace bulkhead::enforcement {

// "ip filter", of the calling thread's network namespace: tables whose chains are switched off.
[[nodiscard]] Result<std::vector<std::string>> dormant_tables();

}  // namespace bulkhead::enforcement
