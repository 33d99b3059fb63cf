#include "compiler/topology.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/inventory_checks.h"
#include "compiler/placement.h"

namespace bulkhead::compiler {
namespace {

using policy::Segment;

bool is_ours(const Enforcer& enforcer) {
  return enforcer.manage == Manage::Bulkhead;
}

std::string vrf_of(const Segment& segment) {
  return segment.vrf ? segment.vrf->text : "";
}

std::string vrf_name(const std::string& vrf) {
  return vrf.empty() ? "the main table" : "VRF " + vrf;
}

bool share_segment(const Leg& leg, const Enforcer& other) {
  return leg.segment && std::any_of(other.legs.begin(), other.legs.end(), [&](const Leg& its) {
           return its.segment && its.segment->text == leg.segment->text;
         });
}

}  // namespace

bool separates(const Enforcer& enforcer, std::string_view what) {
  return std::find(enforcer.separates.begin(), enforcer.separates.end(), what) !=
         enforcer.separates.end();
}

// One packet's way, router by router.
class Topology::Walk {
 public:
  Walk(const Topology& topology, std::size_t from, std::size_t to)
      : topology_(topology),
        from_at_(from),
        to_at_(to),
        from_(topology.places_[from]),
        to_(topology.places_[to]) {}

  Path go() {
    const Enforcer* next = first();
    while (next && !was_at(*next))
      next = is_routed_by_legs(*next) ? route(*next) : fabric(*next);
    return std::move(path_);
  }

 private:
  const Enforcer* first() {
    if (from_.what == Place::What::Enforcer)
      return from_.enforcer;
    if (to_.enforcer && is_attached(*to_.enforcer, from_at_))
      return to_.enforcer;
    if (from_.what == Place::What::Segment) {
      if (!from_.gateway)
        path_.reason = fmt::format("segment {} has no gateway", from_.name);
      return from_.gateway;
    }
    return from_outside();
  }

  // From an external by a router with a leg to it: the destination's own gateway if it is one of
  // them, else the one that leads on.
  const Enforcer* from_outside() {
    std::vector<const Enforcer*> candidates;
    for (const auto& [name, router] : topology_.inventory_.enforcers)
      if (topology_.leg_towards(router, from_at_))
        candidates.push_back(&router);
    if (candidates.empty())
      path_.reason = fmt::format("no leg leads to external {}", from_.name);
    return choose(candidates);
  }

  // At a router whose legs are known.
  const Enforcer* route(const Enforcer& router) {
    path_.hops.push_back({&router, topology_.leg_towards(router, from_at_), nullptr});
    Hop& hop = path_.hops.back();
    if (path_.hops.size() == 1 && from_.what == Place::What::Enforcer)
      hop.in = nullptr;
    if (to_.enforcer == &router) {
      path_.arrives = true;
      return nullptr;
    }
    hop.out = topology_.leg_towards(router, to_at_);
    if (!hop.out) {
      path_.reason = fmt::format("no leg of {} leads to {}", router.name, to_.name);
      return nullptr;
    }
    if (to_.enforcer)
      return to_.enforcer;
    if (is_attached(router, to_at_)) {
      path_.arrives = true;
      return nullptr;
    }
    return beyond(router, *hop.out);
  }

  // Who takes the packet at the far end of a leg that only leads towards its destination.
  const Enforcer* beyond(const Enforcer& router, const Leg& leg) {
    std::vector<const Enforcer*> candidates;
    for (const auto& [name, other] : topology_.inventory_.enforcers) {
      if (&other == &router || !share_segment(leg, other))
        continue;
      const Leg* onward = topology_.leg_towards(other, to_at_);
      if (onward && !share_segment(*onward, router))
        candidates.push_back(&other);
    }
    if (!candidates.empty())
      return choose(candidates);
    const Enforcer* gateway = to_.gateway;
    if (gateway && gateway != &router && is_ours(*gateway))
      return gateway;
    if (gateway && gateway != &router)
      path_.hops.push_back({gateway, nullptr, nullptr});
    path_.arrives = true;
    return nullptr;
  }

  // Of a switch, and of a router that lists no legs, only its segments are known.
  static bool is_routed_by_legs(const Enforcer& router) {
    return is_ours(router) || (router.kind == EnforcerKind::Router && !router.legs.empty());
  }

  // At a declared switch: inside it and its like by VRF, else by a router of
  // ours with a leg to the sender, else by the destination's gateway.
  const Enforcer* fabric(const Enforcer& device) {
    path_.hops.push_back({&device, nullptr, nullptr});
    const Enforcer* gateway = to_.gateway;
    if (to_.enforcer == &device || is_attached(device, to_at_)) {
      path_.arrives = true;
      return nullptr;
    }
    const bool within = gateway && !is_ours(*gateway);
    if (within && is_routed_by(device)) {
      if (gateway != &device)
        path_.hops.push_back({gateway, nullptr, nullptr});
      path_.arrives = true;
      return nullptr;
    }
    std::vector<const Enforcer*> candidates;
    for (const auto& [name, router] : topology_.inventory_.enforcers) {
      const Leg* back = is_ours(router) ? topology_.leg_towards(router, from_at_) : nullptr;
      const Leg* onward = back ? topology_.leg_towards(router, to_at_) : nullptr;
      if (onward && onward != back)
        candidates.push_back(&router);
      else if (back && to_.enforcer == &router)
        candidates.push_back(&router);
    }
    if (!candidates.empty())
      return choose(candidates);
    // A router of ours without a leg towards the sender has no link to this device.
    if (gateway && is_ours(*gateway) && topology_.leg_towards(*gateway, from_at_))
      return gateway;
    path_.reason = no_route_;
    if (path_.reason.empty())
      path_.reason =
          fmt::format("{} has no route from {} to {}", device.name, from_.name, to_.name);
    return nullptr;
  }

  // Does a declared switch carry it by itself: one VRF, or a leak that covers the destination?
  bool is_routed_by(const Enforcer& device) {
    const Segment* source = from_.segment;
    const Segment* destination = to_.segment;
    if (!source || !destination)
      return from_.enforcer == &device || is_attached(device, from_at_);
    const std::string from = vrf_of(*source);
    const std::string to = vrf_of(*destination);
    if (from == to || !separates(device, "vrf"))
      return true;
    const auto vrf = topology_.policy_.vrfs.find(from);
    if (vrf != topology_.policy_.vrfs.end())
      for (const policy::VrfLeak& leak : vrf->second.leaks)
        if (leak.vrf.text == to && covers(leak, *destination))
          return true;
    no_route_ =
        fmt::format("{} keeps {} without a route to {}", device.name, vrf_name(from), vrf_name(to));
    return false;
  }

  // In part is enough: a packet that may arrive is not one that is stopped.
  static bool covers(const policy::VrfLeak& leak, const Segment& segment) {
    if (leak.prefixes.empty())
      return true;
    return std::any_of(leak.prefixes.begin(), leak.prefixes.end(), [&](const Prefix& leaked) {
      return std::any_of(segment.prefixes.begin(), segment.prefixes.end(),
                         [&](const Prefix& own) { return own.overlaps(leaked); });
    });
  }

  const Enforcer* choose(const std::vector<const Enforcer*>& candidates) {
    if (candidates.empty())
      return nullptr;
    const Enforcer* target = to_.enforcer ? to_.enforcer : to_.gateway;
    const auto best = std::find(candidates.begin(), candidates.end(), target);
    if (best != candidates.end())
      return *best;
    std::vector<const Enforcer*> leading;
    for (const Enforcer* candidate : candidates)
      if (topology_.leg_towards(*candidate, to_at_))
        leading.push_back(candidate);
    if (leading.size() > 1)
      path_.equally_good.insert(path_.equally_good.end(), leading.begin(), leading.end());
    return leading.empty() ? candidates.front() : leading.front();
  }

  // Does the router stand in this segment or external itself?
  [[nodiscard]] bool is_attached(const Enforcer& router, std::size_t at) const {
    const Place& place = topology_.places_[at];
    const Leg* leg = topology_.leg_towards(router, at);
    return leg && ((place.what == Place::What::Segment && leg->segment &&
                    leg->segment->text == place.name) ||
                   (place.what == Place::What::External && leg->external &&
                    leg->external->text == place.name));
  }
  bool was_at(const Enforcer& router) {
    const bool seen = std::any_of(path_.hops.begin(), path_.hops.end(),
                                  [&](const Hop& hop) { return hop.router == &router; });
    if (seen && !path_.arrives)
      path_.reason = fmt::format("the legs lead back to {}", router.name);
    return seen;
  }

  const Topology& topology_;
  std::size_t from_at_, to_at_;
  const Place& from_;
  const Place& to_;
  Path path_;
  std::string no_route_;
};

Topology::Topology(const policy::Policy& policy, const Inventory& inventory,
                   const policy::Universe& universe)
    : policy_(policy), inventory_(inventory) {
  find_places(universe);
  paths_.resize(places_.size() * places_.size());
  for (const auto& [name, router] : inventory.enforcers)
    for (const Place& place : places_)
      legs_[&router].push_back(find_leg(router, place));
}

void Topology::find_places(const policy::Universe& universe) {
  using policy::ClassKind;
  std::map<std::pair<Place::What, std::string>, std::vector<policy::ClassId>> residents;
  for (policy::ClassId id = 0; id < universe.classes.size(); ++id) {
    const policy::Class& cls = universe.classes[id];
    std::pair<Place::What, std::string> where{Place::What::Segment, cls.place};
    if (cls.kind == ClassKind::External)
      where.first = Place::What::External;
    if (cls.kind == ClassKind::Enforcer)
      where.first = Place::What::Enforcer;
    if (cls.kind == ClassKind::Partition)
      where.first = Place::What::Partition;
    const auto segment = policy_.segments.find(cls.place);
    const bool is_behind = segment != policy_.segments.end() && segment->second.behind;
    if (where.first == Place::What::Segment && is_behind) {
      const auto hosts = behind_hosts(segment->second, policy_, inventory_);
      if (hosts.empty())
        where.first = Place::What::Nowhere;
      else
        where.second = hosts.front().nic->segment.text;
    }
    residents[where].push_back(id);
  }
  place_of_.resize(universe.classes.size());
  for (const auto& [where, classes] : residents) {
    Place place{where.first, where.second, nullptr, nullptr, nullptr};
    const auto enforcer = inventory_.enforcers.find(where.second);
    if (place.what == Place::What::Enforcer && enforcer != inventory_.enforcers.end())
      place.enforcer = &enforcer->second;
    const auto segment = policy_.segments.find(where.second);
    if (place.what == Place::What::Segment && segment != policy_.segments.end()) {
      place.segment = &segment->second;
      const auto gateway =
          inventory_.enforcers.find(place.segment->gateway ? place.segment->gateway->text : "");
      if (gateway != inventory_.enforcers.end())
        place.gateway = &gateway->second;
    }
    for (const policy::ClassId id : classes)
      place_of_[id] = places_.size();
    places_.push_back(std::move(place));
  }
}

// A direct leg beats one that has the place among those behind it.
const Leg* Topology::find_leg(const Enforcer& router, const Place& place) const {
  const Leg* best = nullptr;
  for (const Leg& leg : router.legs) {
    if (place.what == Place::What::External && leg.external && leg.external->text == place.name)
      return &leg;
    if (place.segment && leg.segment && leg.segment->text == place.name)
      return &leg;
    if (best)
      continue;
    if (place.enforcer && place.enforcer != &router && share_segment(leg, *place.enforcer))
      best = &leg;
    // A segment without a gateway is not routed, whatever a glob says.
    const bool routed = place.segment && place.segment->gateway &&
                        (!leg.vrf || leg.vrf->text == vrf_of(*place.segment));
    if (routed && std::any_of(leg.behind.begin(), leg.behind.end(), [&](const Name& glob) {
          return matches_glob(glob.text, place.name);
        }))
      best = &leg;
  }
  return best;
}

const Leg* Topology::leg_towards(const Enforcer& router, std::size_t place) const {
  return legs_.at(&router)[place];
}

const Path& Topology::path(std::size_t from, std::size_t to) const {
  std::optional<Path>& known = paths_[from * places_.size() + to];
  if (!known)
    known = Walk(*this, from, to).go();
  return *known;
}

}  // namespace bulkhead::compiler
