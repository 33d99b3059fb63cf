// Where a class stands that has no NICs of its own in the inventory: an address of a `behind`
// prefix on each host that it is behind, and for an outside world one host at the leg towards it.
// The lab gives these addresses to namespaces, the probe plan dials from and to them; both ask
// here, so that they agree.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/inventory.h"
#include "policy/class.h"

namespace bulkhead::compiler {

struct Placement {
  std::string host;
  std::string nic;
  Address address;
};

// Hosts that a segment is `behind`, by name, each with the NIC through which its prefixes are
// reached: the one in SEGMENT of SEGMENT.LABEL, else the first in a segment that has a gateway.
struct BehindHost {
  const Host* host = nullptr;
  const Nic* nic = nullptr;
};
[[nodiscard]] std::vector<BehindHost> behind_hosts(const policy::Segment& segment,
                                                   const policy::Policy& policy,
                                                   const Inventory& inventory);

// One address for each prefix and host, none that the inventory gives to another. Hosts beyond the
// prefix's size get none.
[[nodiscard]] std::vector<Placement> place_behind(const policy::Segment& segment,
                                                  const policy::Policy& policy,
                                                  const Inventory& inventory);

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

// The far end of a leg's network: its first host address that is not the leg's own.
[[nodiscard]] Address peer_address(const InterfaceAddress& leg);

// The address of a segment's gateway: its leg's, where the gateway has a leg with one in the
// prefix; else (a switch without legs) the first host address of the prefix.
[[nodiscard]] Address gateway_address(const policy::Segment& segment, const Prefix& prefix,
                                      const Inventory& inventory);

}  // namespace bulkhead::compiler
