// The classes between which policy speaks: endpoints with the same tenant, segment and labels are
// one. The inventory (compiler/inventory.h) knows the hosts and makes the universe; policy only
// sees who is who.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/support/address.h"
#include "policy/traffic.h"

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
  bool has_peers = false;           // an enforcer of several members, all with these addresses
};

using ClassId = std::uint32_t;

// What can bring a packet to and from a class. Two classes without a common carrier have no packet
// between them, whatever a flow says: a v4-only name is never "any" in v6.
enum class Carrier : std::uint8_t { V4 = 1, V6 = 2, Ib = 4 };
using Carriers = std::uint8_t;  // a set of Carrier bits
[[nodiscard]] Carriers carriers(const Class& cls);
// Those over which one kind of traffic runs; `port` is the row of kIcmpQueries for Kind::Icmp.
[[nodiscard]] Carriers carriers(const TrafficKey& key, std::uint16_t port);

// Sorted by name; ClassId is the index.
struct Universe {
  std::vector<Class> classes;
  std::vector<std::string>
      known_labels;                    // every label any host carries: tells a typo from "nobody"
  std::vector<std::string> enforcers;  // names, also of those without addresses
  [[nodiscard]] const Class* find(std::string_view name) const;
  [[nodiscard]] std::optional<ClassId> id_of(std::string_view name) const;
};

// An outside world's own traffic is not ours, and an enforcer alone speaks to itself over its
// loopback; every other two classes, and a class with itself, are a cell of the matrix. Members of
// an enforcer do speak to each other (VRRP).
[[nodiscard]] bool is_pair(const Universe& universe, ClassId from, ClassId to);

}  // namespace bulkhead::policy
