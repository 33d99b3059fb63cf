// A cell of the matrix in a few words, as reports and the matrix verb show it.
#pragma once

#include <string>

#include "policy/matrix.h"

namespace bulkhead::cli {

// "nothing", "everything", "tcp 22, 6800-7300; icmp echo". Null: nothing is said, so nothing flows.
[[nodiscard]] std::string what_flows(const policy::Cell* cell);

}  // namespace bulkhead::cli
