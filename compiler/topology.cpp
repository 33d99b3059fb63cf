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
  Walk(const Topology& topology, const Place& from, const Place& to)
      : topology_(topology), from_(from), to_(to) {}

  Path go() {
    const Enforcer* next = first();
    while (next && !was_at(*next))
      next = is_ours(*next) || !next->legs.empty() ? route(*next) : fabric(*next);
    return std::move(path_);
  }

 private:
  const Enforcer* first() {
    if (from_.what == Place::What::Enforcer)
      return &topology_.inventory_.enforcers.at(from_.name);
    if (const Enforcer* target = to_enforcer(); target && leg_on(*target, from_))
      return target;
    if (from_.what == Place::What::Segment) {
      const Enforcer* gateway = topology_.gateway(from_);
      if (!gateway)
        path_.reason = fmt::format("segment {} has no gateway", from_.name);
      return gateway;
    }
    return from_outside();
  }

  // From an external by a router with a leg to it: the destination's own gateway if it is one of
  // them, else the one that leads on.
  const Enforcer* from_outside() {
    std::vector<const Enforcer*> candidates;
    for (const auto& [name, router] : topology_.inventory_.enforcers)
      if (topology_.leg_towards(router, from_))
        candidates.push_back(&router);
    if (candidates.empty())
      path_.reason = fmt::format("no leg leads to external {}", from_.name);
    return choose(candidates);
  }

  // At a router whose legs are known.
  const Enforcer* route(const Enforcer& router) {
    path_.hops.push_back({&router, topology_.leg_towards(router, from_), nullptr});
    Hop& hop = path_.hops.back();
    if (path_.hops.size() == 1 && from_.what == Place::What::Enforcer)
      hop.in = nullptr;
    if (to_enforcer() == &router) {
      path_.arrives = true;
      return nullptr;
    }
    hop.out = topology_.leg_towards(router, to_);
    if (!hop.out) {
      path_.reason = fmt::format("no leg of {} leads to {}", router.name, to_.name);
      return nullptr;
    }
    if (const Enforcer* target = to_enforcer())
      return target;
    if (leg_on(router, to_)) {
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
      const Leg* onward = topology_.leg_towards(other, to_);
      if (onward && !share_segment(*onward, router))
        candidates.push_back(&other);
    }
    if (!candidates.empty())
      return choose(candidates);
    const Enforcer* gateway = topology_.gateway(to_);
    if (gateway && gateway != &router && is_ours(*gateway))
      return gateway;
    if (gateway && gateway != &router)
      path_.hops.push_back({gateway, nullptr, nullptr});
    path_.arrives = true;
    return nullptr;
  }

  // At a declared switch that lists no legs: inside it and its like by VRF, else by a router of
  // ours with a leg to the sender, else by the destination's gateway.
  const Enforcer* fabric(const Enforcer& device) {
    path_.hops.push_back({&device, nullptr, nullptr});
    const Enforcer* gateway = topology_.gateway(to_);
    const bool within = gateway && !is_ours(*gateway);
    if (within && is_routed_by(device)) {
      if (gateway != &device)
        path_.hops.push_back({gateway, nullptr, nullptr});
      path_.arrives = true;
      return nullptr;
    }
    std::vector<const Enforcer*> candidates;
    for (const auto& [name, router] : topology_.inventory_.enforcers) {
      const Leg* back = is_ours(router) ? topology_.leg_towards(router, from_) : nullptr;
      const Leg* onward = back ? topology_.leg_towards(router, to_) : nullptr;
      if (onward && onward != back)
        candidates.push_back(&router);
      else if (back && to_enforcer() == &router)
        candidates.push_back(&router);
    }
    if (!candidates.empty())
      return choose(candidates);
    if (gateway && is_ours(*gateway))
      return gateway;
    path_.reason = no_route_;
    if (path_.reason.empty())
      path_.reason =
          fmt::format("{} has no route from {} to {}", device.name, from_.name, to_.name);
    return nullptr;
  }

  // Does a declared switch carry it by itself: one VRF, or a leak that covers the destination?
  bool is_routed_by(const Enforcer& device) {
    const Segment* source = topology_.segment(from_);
    const Segment* destination = topology_.segment(to_);
    if (!source || !destination)
      return false;
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
    const Enforcer* target = to_enforcer() ? to_enforcer() : topology_.gateway(to_);
    const auto best = std::find(candidates.begin(), candidates.end(), target);
    if (best != candidates.end())
      return *best;
    std::vector<const Enforcer*> leading;
    for (const Enforcer* candidate : candidates)
      if (topology_.leg_towards(*candidate, to_))
        leading.push_back(candidate);
    if (leading.size() > 1)
      path_.other_first.insert(path_.other_first.end(), leading.begin(), leading.end());
    return leading.empty() ? candidates.front() : leading.front();
  }

  [[nodiscard]] const Enforcer* to_enforcer() const {
    return to_.what == Place::What::Enforcer ? &topology_.inventory_.enforcers.at(to_.name)
                                             : nullptr;
  }
  [[nodiscard]] bool leg_on(const Enforcer& router, const Place& place) const {
    const Leg* leg = topology_.leg_towards(router, place);
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
  const Place& from_;
  const Place& to_;
  Path path_;
  std::string no_route_;
};

Topology::Topology(const policy::Policy& policy, const Inventory& inventory)
    : policy_(policy), inventory_(inventory) {
  for (const auto& [name, segment] : policy.segments) {
    if (!segment.behind)
      continue;
    const std::vector<BehindHost> hosts = behind_hosts(segment, policy, inventory);
    if (!hosts.empty())
      behind_[name] = {Place::What::Segment, hosts.front().nic->segment.text};
  }
}

Place Topology::place_of(const policy::Class& cls) const {
  switch (cls.kind) {
    case policy::ClassKind::Endpoint:
    case policy::ClassKind::Spare:
      return {Place::What::Segment, cls.place};
    case policy::ClassKind::Behind: {
      const auto found = behind_.find(cls.place);
      return found == behind_.end() ? Place{Place::What::Nowhere, cls.place} : found->second;
    }
    case policy::ClassKind::External:
      return {Place::What::External, cls.place};
    case policy::ClassKind::Enforcer:
      return {Place::What::Enforcer, cls.place};
    case policy::ClassKind::Partition:
      return {Place::What::Partition, cls.place};
  }
  return {};
}

const Segment* Topology::segment(const Place& place) const {
  if (place.what != Place::What::Segment)
    return nullptr;
  const auto found = policy_.segments.find(place.name);
  return found == policy_.segments.end() ? nullptr : &found->second;
}

const Enforcer* Topology::gateway(const Place& place) const {
  const Segment* found = segment(place);
  if (!found || !found->gateway)
    return nullptr;
  const auto enforcer = inventory_.enforcers.find(found->gateway->text);
  return enforcer == inventory_.enforcers.end() ? nullptr : &enforcer->second;
}

const Leg* Topology::leg_towards(const Enforcer& router, const Place& place) const {
  const auto [entry, is_new] = legs_.try_emplace({&router, place}, nullptr);
  if (!is_new)
    return entry->second;
  const Segment* target = segment(place);
  const Leg*& best = entry->second;
  for (const Leg& leg : router.legs) {
    if (place.what == Place::What::External && leg.external && leg.external->text == place.name)
      best = &leg;
    if (place.what == Place::What::Enforcer && !best &&
        share_segment(leg, inventory_.enforcers.at(place.name)))
      best = &leg;
    if (target && leg.segment && leg.segment->text == place.name)
      return best = &leg;
    // A segment without a gateway is not routed, whatever a glob says.
    const bool behind =
        target && target->gateway && !best && (!leg.vrf || leg.vrf->text == vrf_of(*target)) &&
        std::any_of(leg.behind.begin(), leg.behind.end(),
                    [&](const Name& glob) { return matches_glob(glob.text, place.name); });
    if (behind)
      best = &leg;
  }
  return best;
}

const Path& Topology::path(const Place& from, const Place& to) const {
  const auto known = paths_.find({from, to});
  if (known != paths_.end())
    return known->second;
  return paths_.emplace(std::pair(from, to), Walk(*this, from, to).go()).first->second;
}

}  // namespace bulkhead::compiler
