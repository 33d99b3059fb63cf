// The network interfaces of this network namespace and their addresses, asked of the kernel
// (rtnetlink). Only read.
#pragma once

#include <string>
#include <vector>

#include "policy/support/address.h"
#include "policy/support/result.h"

namespace bulkhead::enforcement {

struct Link {
  unsigned index = 0;
  std::string name;
  std::string kind;  // "bridge", "vrf", "vlan"; empty: a plain one
  bool is_up = false;
  std::vector<Address> addresses;
};

[[nodiscard]] Result<std::vector<Link>> links();

}  // namespace bulkhead::enforcement
