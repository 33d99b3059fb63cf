// The classes between which policy speaks: endpoints with the same tenant, segment and labels are
// one. The inventory (compiler/inventory.h) knows the hosts and makes the universe; policy only
// sees who is who.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policy/support/address.h"

namespace bulkhead::policy {

enum class ClassKind {
  Endpoint,   // listed hosts of a segment
  Behind,     // a whole prefix reached through hosts or a leg (pods behind workers)
  External,   // outside prefixes, `rest` included
  Enforcer,   // an enforcer's own addresses on all legs
  Partition,  // InfiniBand ports of a partition; no addresses
  Spare,      // hosts in state spare: in a segment, reach nobody, reached by nobody
};

struct Class {
  std::string name;  // "acme-fe.compute", "acme-fe.a+b", "acme-fe", "external:world", "enforcer:fw"
  ClassKind kind = ClassKind::Endpoint;
  std::string place;                // segment, partition, external or enforcer name
  std::string tenant;               // empty for externals and enforcers
  std::string vrf;                  // empty: the main table
  std::vector<std::string> labels;  // sorted
  AddressSet addresses;             // a family without members is simply absent
};

using ClassId = std::uint32_t;

// Sorted by name; ClassId is the index.
struct Universe {
  std::vector<Class> classes;
  std::vector<std::string>
      known_labels;                    // every label any host carries: tells a typo from "nobody"
  std::vector<std::string> enforcers;  // names, also of those without addresses
  [[nodiscard]] const Class* find(std::string_view name) const;
};

}  // namespace bulkhead::policy
