// The parts of validate_inventory, one file each. Every check reports and goes on.
#pragma once

#include <string_view>

#include "compiler/inventory.h"

namespace bulkhead::compiler {

struct InventoryCheck {
  const Inventory& inventory;
  const policy::Policy& policy;
  Diagnostics& diagnostics;
};

// Whether what an address should lie in could not be read: the segment has no prefix of the family,
// and some prefix of the policy is a mistake, which has been told.
[[nodiscard]] bool has_unread_prefix(const InventoryCheck& check, const policy::Segment& segment,
                                     Family family);

// NICs against segments, hosts against each other: inventory_check_hosts.cpp.
void check_hosts(const InventoryCheck& check);
// No address twice in one VRF, no MAC and no GUID twice: inventory_check_addresses.cpp.
void check_addresses(const InventoryCheck& check);
// Members and legs against segments, externals and VRFs: inventory_check_enforcers.cpp.
void check_enforcers(const InventoryCheck& check);
// Gateways and `behind` of segments, which only the facts can answer: inventory_check_segments.cpp.
void check_segments(const InventoryCheck& check);

// What containers on a host see of its RDMA devices: inventory_check_rdma.cpp.
void check_rdma(const InventoryCheck& check);

// `ssh` of a host or an enforcer; empty is its own name.
void check_ssh(const InventoryCheck& check, const std::string& destination, SourcePos at);

// "stor-*": `*` stands for any run of characters.
[[nodiscard]] bool matches_glob(std::string_view glob, std::string_view name);

}  // namespace bulkhead::compiler
