// What a person calls an endpoint -> its class.
#pragma once

#include <string_view>

#include "compiler/site.h"
#include "policy/support/result.h"

namespace bulkhead::cli {

// A class by its name, an address, or a host of the inventory that has one class only. Errors name
// the near misses or the several classes.
[[nodiscard]] Result<policy::ClassId> find_class(const compiler::Site& site, std::string_view text);

}  // namespace bulkhead::cli
