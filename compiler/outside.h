// The hosts that stand for the outside worlds of a site. An inventory lists none, so a lab builds
// one for each external that an enforcer has a leg to, and the probe plan speaks to these very
// addresses.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/inventory.h"
#include "policy/class.h"

namespace bulkhead::compiler {

struct OutsideHost {
  std::string name;       // "external:world": also its class; no inventory host has a colon
  std::string enforcer;   // whose leg it sits at
  std::string interface;  // that leg
  // Its own address, inside the external's prefixes and routed to the leg. Only of families that
  // the leg itself carries: without a next hop nothing could come or go.
  std::optional<Address> v4, v6;
  [[nodiscard]] const std::optional<Address>& of(Family family) const {
    return family == Family::V4 ? v4 : v6;
  }
};

// By name; of several legs to one external the first enforcer's first leg. Externals without a leg
// or without addresses are absent.
[[nodiscard]] std::vector<OutsideHost> outside_hosts(const policy::Universe& universe,
                                                     const Inventory& inventory);

}  // namespace bulkhead::compiler
