// What the operator wants to know about this host before it trusts its evidence. Reads only.
#pragma once

#include "probes/message.h"

namespace bulkhead::probes {

[[nodiscard]] Facts read_facts();

}  // namespace bulkhead::probes
