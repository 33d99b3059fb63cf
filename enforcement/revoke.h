// Connections that were opened under other rules, and that the policy in force does not allow.
#pragma once

#include <vector>

#include "enforcement/backend.h"
#include "enforcement/nft_target.h"

namespace bulkhead::enforcement {

// Those that are there now; none where no policy speaks of the target.
[[nodiscard]] Result<std::vector<Connection>> forbidden_connections(Backend& backend,
                                                                    const Target& target);
// Cuts them, and looks again: packets that were on their way through the old rules may still have
// opened one. What was cut.
[[nodiscard]] Result<std::vector<Connection>> revoke(Backend& backend, const Target& target);

}  // namespace bulkhead::enforcement
