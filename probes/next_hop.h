// Where a host's own stack would send a packet next, and what it knows of that neighbour: silence
// proves nothing where the sender's packets go to nobody. Reads only.
#pragma once

#include <optional>

#include "probes/evidence.h"

namespace bulkhead::probes {

// None: it has no route, or cannot say.
[[nodiscard]] std::optional<NextHop> next_hop_of(const Address& from, const Address& to);

}  // namespace bulkhead::probes
