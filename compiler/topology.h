// Where classes stand and which routers a packet between two places passes, from the declared facts
// alone: gateways of segments, legs of enforcers, VRFs and their leaks. Coverage asks it for every
// pair; nothing here knows flows.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/inventory.h"

namespace bulkhead::compiler {

// Classes of one place share every path: all that sits in a segment, one external, one enforcer.
struct Place {
  enum class What { Nowhere, Segment, External, Enforcer, Partition };
  What what = What::Nowhere;
  std::string name;
  auto operator<=>(const Place&) const = default;
};

struct Hop {
  const Enforcer* router = nullptr;
  const Leg* in = nullptr;   // null: the packet is the router's own, or comes by no declared leg
  const Leg* out = nullptr;  // null: the packet is for the router, or no declared leg leads on
};

struct Path {
  std::vector<Hop> hops;  // managed and declared routers, in order
  bool arrives = false;
  std::string reason;  // why it does not arrive, in a few words
  std::vector<const Enforcer*>
      other_first;  // routers that would do as well: facts that are unclear
};

class Topology {
 public:
  // Both must outlive it.
  Topology(const policy::Policy& policy, const Inventory& inventory);

  // Prefixes `behind` hosts stand where those hosts do.
  [[nodiscard]] Place place_of(const policy::Class& cls) const;
  // A direct leg beats one that has the place among those behind it.
  [[nodiscard]] const Leg* leg_towards(const Enforcer& router, const Place& place) const;
  // Between different places; valid as long as the Topology. Segments of one place are not routed.
  [[nodiscard]] const Path& path(const Place& from, const Place& to) const;
  [[nodiscard]] const policy::Segment* segment(const Place& place) const;
  [[nodiscard]] const Enforcer* gateway(const Place& place) const;

 private:
  class Walk;
  const policy::Policy& policy_;
  const Inventory& inventory_;
  std::map<std::string, Place> behind_;  // segment -> where its hosts stand
  mutable std::map<std::pair<const Enforcer*, Place>, const Leg*> legs_;
  mutable std::map<std::pair<Place, Place>, Path> paths_;
};

[[nodiscard]] bool separates(const Enforcer& enforcer, std::string_view what);

}  // namespace bulkhead::compiler
