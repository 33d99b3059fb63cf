// A site from two texts in memory.
#pragma once

#include <map>
#include <string>

#include "compiler/site.h"

namespace bulkhead::testing {

// Its folder is empty: foreign rulesets cannot be named. Errors of the site are printed and fail
// the test.
[[nodiscard]] compiler::Site memory_site(const std::string& policy, const std::string& inventory);

}  // namespace bulkhead::testing
