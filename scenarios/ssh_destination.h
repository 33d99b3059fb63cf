// Where ssh finds a host or a member of an enforcer.
#pragma once

#include <string>

#include "compiler/inventory.h"

namespace bulkhead::scenarios {

// The `ssh` of a pair is a hostlist with a name for each member; default: the name itself.
[[nodiscard]] std::string ssh_destination(const compiler::Inventory& inventory,
                                          const std::string& name);

}  // namespace bulkhead::scenarios
