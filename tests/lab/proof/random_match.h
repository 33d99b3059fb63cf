// One random match of a rule, out of everything that the model covers.
#pragma once

#include <string>

#include "dice.h"

namespace bulkhead::test {

struct Place {  // where a rule is to stand
  std::string family, hook;
  bool conntrack = false;
};

// Empty where there is none for this place.
[[nodiscard]] std::string random_match(Dice& dice, const Place& place);

}  // namespace bulkhead::test
