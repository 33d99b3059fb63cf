// All rules of the language that concern a policy by itself and against the class universe: unknown
// names, authority of includes, consent to cross-tenant flows, overlaps, collisions, reserved
// names, never.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "policy/class.h"
#include "policy/model.h"
#include "policy/support/diagnostic.h"

namespace bulkhead::policy {

// What the inventory calls things.
struct InventoryNames {
  std::vector<std::string> enforcers;  // gateways, isolated_by and `enforcer:` refer to them
  // A policy names no hosts; where somebody does, the hint says in which segment the host sits.
  std::map<std::string, std::string> segment_of_host{};
};

// Before classes exist: names, prefixes, VRFs, services, selectors. Resolves Selector::What in
// place.
void validate_names(Policy& policy, const InventoryNames& inventory, Diagnostics& diagnostics);

// With classes: empty selections (warning), unknown labels, consent, `never` against allows, allows
// hidden by denies (warning), one-way ib flows, services that cannot run between two classes.
void validate_flows(const Policy& policy, const Universe& universe, Date as_of,
                    Diagnostics& diagnostics);

}  // namespace bulkhead::policy
