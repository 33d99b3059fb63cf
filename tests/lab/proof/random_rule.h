// One random rule that nft accepts.
#pragma once

#include <string>
#include <vector>

#include "random_match.h"

namespace bulkhead::test {

// `below`: chains that it may send packets to.
[[nodiscard]] std::string random_rule(Dice& dice, const Place& place,
                                      const std::vector<std::string>& below);

}  // namespace bulkhead::test
