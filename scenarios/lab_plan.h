// Inventory -> what the lab builds, as values: bridges of the fabric, namespaces, links, addresses
// and routes. Pure, so that the whole shape of a pod is tested without root; lab_build.h executes
// it. Routes follow what the inventory says of gateways and legs, never the flow matrix: the lab
// carries every packet and the enforcers alone decide.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/site.h"

namespace bulkhead::scenarios {

enum class Role : std::uint8_t {
  Host,
  Member,   // active member of a router enforcer: carries the legs and their addresses
  Standby,  // the pair's other member: rules loaded, legs down
  Switch,   // a declared router or switch; a switch has one namespace for each VRF
  Outside,  // an external
  Behind,   // leads to the hosts of a `behind` segment that have namespaces of their own
};

struct PlannedLink {
  std::string interface;
  std::size_t bridge = 0;  // index into LabPlan::bridges
  bool isolated = false;   // bridge port that reaches only ports that are not isolated
  bool up = true;
  std::optional<std::array<std::uint8_t, 6>> mac;
  std::vector<InterfaceAddress> addresses;
};

struct PlannedRoute {
  Prefix to;
  std::optional<Address> via;
  std::string dev;          // empty: unreachable, answered by ICMP
  std::uint32_t table = 0;  // 0: main
  auto operator<=>(const PlannedRoute&) const = default;
};

struct PlannedRule {  // "from ADDRESS lookup TABLE"
  Address from;
  std::uint32_t table = 0;
};

struct PlannedNetns {
  std::string name;  // inventory host, member, "leaf.VRF", "external:NAME", "behind:SEGMENT"
  Role role = Role::Host;
  std::string enforcer;  // Member, Standby, Switch: whose
  std::string vrf;       // Switch: of which VRF
  bool forwards = false;
  std::vector<PlannedLink> links;
  std::vector<PlannedRoute> routes;
  std::vector<PlannedRule> rules;
};

struct LabPlan {
  std::vector<std::string>
      bridges;  // what each is, for people: "segment red", "transit fw bond0.4000"
  std::vector<PlannedNetns> nodes;
  [[nodiscard]] const PlannedNetns* find(const std::string& name) const;
};

[[nodiscard]] LabPlan plan_lab(const compiler::Site& site);

// Second half of plan_lab, apart for its size: fills in the routes of all nodes.
void plan_routes(const compiler::Site& site, LabPlan& plan);

// "acme-*" against "acme-fe": '*' is any text, everything else itself.
[[nodiscard]] bool glob_matches(std::string_view glob, std::string_view name);
// At most 15 characters, as the kernel wants; longer names end in a hash.
[[nodiscard]] std::string interface_name(const std::string& wanted);

}  // namespace bulkhead::scenarios
