// Small sites whose rulesets are goldens, and which the lab loads into the kernel.
#pragma once

#include <string>
#include <vector>

#include "sketch.h"

namespace bulkhead::test {

struct NftCase {
  std::string name;
  Sketch (*sketch)();
};
[[nodiscard]] const std::vector<NftCase>& nft_cases();

}  // namespace bulkhead::test
