// Where classes stand and which routers a packet between two places passes, from the declared facts
// alone: gateways of segments, legs of enforcers, VRFs and their leaks. Coverage asks it for every
// pair of classes; nothing here knows flows.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/inventory.h"

namespace bulkhead::compiler {

// Classes of one place share every path: all that sits in a segment, one external, one enforcer.
struct Place {
  enum class What { Nowhere, Segment, External, Enforcer, Partition };
  What what = What::Nowhere;
  std::string name;
  const policy::Segment* segment = nullptr;  // What::Segment
  const Enforcer* gateway = nullptr;         // of the segment; null: nobody routes it
  const Enforcer* enforcer = nullptr;        // What::Enforcer
};

struct Hop {
  const Enforcer* router = nullptr;
  const Leg* in = nullptr;   // null: the packet is the router's own, or comes by no declared leg
  const Leg* out = nullptr;  // null: the packet is for the router, or no declared leg leads on
};

struct Path {
  std::vector<Hop> hops;  // managed and declared routers, in order
  bool arrives = false;
  std::string reason;                         // why it does not arrive, in a few words
  std::vector<const Enforcer*> equally_good;  // routers that would do as well: unclear facts
};

class Topology {
 public:
  // All three must outlive it.
  Topology(const policy::Policy& policy, const Inventory& inventory,
           const policy::Universe& universe);

  // Places in order of name, each once. Prefixes `behind` hosts stand where those hosts do.
  [[nodiscard]] const std::vector<Place>& places() const { return places_; }
  [[nodiscard]] std::size_t place_of(policy::ClassId cls) const { return place_of_[cls]; }
  // Between two different places; worked out once. Places that are Nowhere or a Partition have
  // none.
  [[nodiscard]] const Path& path(std::size_t from, std::size_t to) const;

 private:
  class Walk;
  void find_places(const policy::Universe& universe);
  [[nodiscard]] const Leg* find_leg(const Enforcer& router, const Place& place) const;
  [[nodiscard]] const Leg* leg_towards(const Enforcer& router, std::size_t place) const;

  const policy::Policy& policy_;
  const Inventory& inventory_;
  std::vector<Place> places_;
  std::vector<std::size_t> place_of_;
  std::map<const Enforcer*, std::vector<const Leg*>> legs_;  // by place
  mutable std::vector<std::optional<Path>> paths_;           // from * places + to
};

[[nodiscard]] bool separates(const Enforcer& enforcer, std::string_view what);

}  // namespace bulkhead::compiler
