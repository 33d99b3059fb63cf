// Routes of the lab's namespaces. A host knows its networks and its gateway; a router knows a next
// hop for every segment that the inventory's gateways and legs give it, and answers "unreachable"
// for every other one, so that nothing falls through to a default route (a VRF without one would
// leak into the outside).
#include <algorithm>
#include <map>
#include <set>

#include "compiler/placement.h"
#include "scenarios/lab_plan.h"

namespace bulkhead::scenarios {

namespace {

constexpr std::uint32_t kFirstTable = 100;  // per NIC of a host with several

class Router {
 public:
  Router(const compiler::Site& site, LabPlan& plan) : site_(site), plan_(plan) {}

  void fill() {
    for (auto& node : plan_.nodes) {
      if (node.role == Role::Host)
        route_host(node);
      else if (node.role == Role::Behind)
        route_behind_router(node);
      else if (node.role == Role::Outside)
        route_outside(node);
      else if (node.role != Role::Standby)
        route_router(node);
    }
  }

 private:
  struct Hop {
    std::string dev;
    const PlannedLink* theirs = nullptr;  // the neighbour's port: its addresses are next hops
  };

  static Prefix everything(Family family) {
    Prefix prefix;
    prefix.base.family = family;
    return prefix;
  }
  static Prefix alone(const Address& address) {
    return {address, static_cast<std::uint8_t>(bits(address.family))};
  }
  static std::optional<Address> address_in(const PlannedLink& link, Family family) {
    for (const auto& address : link.addresses)
      if (address.address.family == family)
        return address.address;
    return std::nullopt;
  }
  static std::string vrf_of(const policy::Segment& segment) {
    return segment.vrf ? segment.vrf->text : std::string();
  }
  [[nodiscard]] std::string bridge_segment(std::size_t bridge) const {
    const std::string& what = plan_.bridges[bridge];
    return what.starts_with("segment ") ? what.substr(8) : std::string();
  }
  static bool routes(const PlannedNetns& node) {
    return node.role == Role::Member || node.role == Role::Switch;
  }

  // ---- hosts

  // With several NICs each address answers by its own: without, a reply to the second NIC's
  // address would leave by the first NIC's default route and be dropped as spoofed.
  void route_host(PlannedNetns& node) {
    const bool many = node.links.size() > 1;
    bool have_default[2] = {false, false};
    for (std::size_t i = 0; i < node.links.size(); ++i) {
      const PlannedLink& link = node.links[i];
      const auto segment = site_.policy.segments.find(bridge_segment(link.bridge));
      const auto table = static_cast<std::uint32_t>(kFirstTable + i);
      for (const auto& prefix : segment->second.prefixes) {
        const Family family = prefix.family();
        if (!address_in(link, family))
          continue;
        if (many)
          node.routes.push_back({prefix, std::nullopt, link.interface, table});
        const auto next = next_hop_of(segment->second, prefix);
        if (!next)
          continue;
        const Address gateway = *next;
        auto& have = have_default[family == Family::V4 ? 0 : 1];
        if (many)
          node.routes.push_back({everything(family), gateway, link.interface, table});
        if (!have)
          node.routes.push_back({everything(family), gateway, link.interface, 0});
        have = true;
      }
      route_neighbours(node, link, 0);
      if (many) {
        route_neighbours(node, link, table);
        for (const auto& address : link.addresses)
          node.rules.push_back({address.address, table});
      }
    }
  }

  // What stands behind a neighbour is reached through that neighbour and not through the gateway:
  // the path model has nobody between them.
  void route_neighbours(PlannedNetns& node, const PlannedLink& link, std::uint32_t table) {
    const auto add = [&](const Prefix& prefix, const PlannedLink& theirs) {
      const auto next = address_in(theirs, prefix.family());
      if (theirs.bridge == link.bridge && next && address_in(link, prefix.family()))
        node.routes.push_back({prefix, next, link.interface, table});
    };
    for (const auto& [name, segment] : site_.policy.segments) {
      if (!segment.behind)
        continue;
      const PlannedNetns* router = plan_.find("behind:" + name);
      if (router != nullptr && router != &node)
        for (const auto& prefix : segment.prefixes)
          add(prefix, router->links.front());
      for (const auto& placed : compiler::place_behind(segment, site_.policy, site_.inventory)) {
        const PlannedNetns* host = plan_.find(placed.host);
        for (const auto& nic : host->links)
          if (host != &node && nic.interface == placed.nic)
            add(alone(placed.address), nic);
      }
    }
  }

  // Where a host of the segment sends what is not of its network.
  [[nodiscard]] std::optional<Address> next_hop_of(const policy::Segment& segment,
                                                   const Prefix& prefix) const {
    if (segment.behind)
      return inner_address(segment, prefix);
    if (!segment.gateway || !has_router(segment))
      return std::nullopt;
    return compiler::gateway_address(segment, prefix, site_.inventory);
  }

  [[nodiscard]] std::optional<Address> inner_address(const policy::Segment& segment,
                                                     const Prefix& prefix) const {
    const PlannedNetns* router = plan_.find("behind:" + segment.name);
    if (router == nullptr)
      return std::nullopt;
    for (const auto& own : router->links.back().addresses)
      if (prefix.contains(own.address))
        return own.address;
    return std::nullopt;
  }

  // To the gateway of the segment that it stands in; what is behind it is its own network.
  void route_behind_router(PlannedNetns& node) {
    const PlannedLink& outer = node.links.front();
    const auto base = site_.policy.segments.find(bridge_segment(outer.bridge));
    std::set<Family> done;
    for (const auto& own : outer.addresses) {
      const auto next = next_hop_of(base->second, own.prefix());
      if (next && done.insert(own.address.family).second)
        node.routes.push_back({everything(own.address.family), next, outer.interface, 0});
    }
    route_neighbours(node, outer, 0);
  }

  [[nodiscard]] bool has_router(const policy::Segment& segment) const {
    return std::any_of(plan_.nodes.begin(), plan_.nodes.end(),
                       [&](const auto& node) { return is_gateway(node, segment); });
  }

  void route_outside(PlannedNetns& node) {
    bool have_default[2] = {false, false};
    for (const auto& link : node.links) {
      for (const auto& neighbour : plan_.nodes) {
        for (const auto& theirs : neighbour.links) {
          if (neighbour.role != Role::Member && neighbour.role != Role::Switch)
            continue;
          if (theirs.bridge != link.bridge)
            continue;
          for (const Family family : kFamilies) {
            const auto via = address_in(theirs, family);
            auto& have = have_default[family == Family::V4 ? 0 : 1];
            if (via && !have)
              node.routes.push_back({everything(family), via, link.interface, 0});
            have = have || via.has_value();
          }
        }
      }
    }
  }

  // ---- routers

  [[nodiscard]] bool is_gateway(const PlannedNetns& node, const policy::Segment& segment) const {
    if (!routes(node) || !segment.gateway || node.enforcer != segment.gateway->text)
      return false;
    const auto bridge = segment_bridge(segment.name);
    return bridge && on_bridge(node, *bridge) != nullptr;
  }

  [[nodiscard]] std::optional<std::size_t> segment_bridge(const std::string& segment) const {
    const auto found = std::find(plan_.bridges.begin(), plan_.bridges.end(), "segment " + segment);
    if (found == plan_.bridges.end())
      return std::nullopt;
    return static_cast<std::size_t>(found - plan_.bridges.begin());
  }
  static const PlannedLink* on_bridge(const PlannedNetns& node, std::size_t bridge) {
    for (const auto& link : node.links)
      if (link.bridge == bridge)
        return &link;
    return nullptr;
  }

  // Breadth first over the networks that routers share, from `start` until `arrived`; gives the
  // first hop. `allowed` says which of start's own links may be the first.
  template <class Arrived, class Allowed>
  std::optional<Hop> first_hop(const PlannedNetns& start, const Arrived& arrived,
                               const Allowed& allowed) const {
    struct At {
      const PlannedNetns* node;
      std::optional<Hop> hop;
    };
    std::vector<At> queue{{&start, std::nullopt}};
    std::set<const PlannedNetns*> seen{&start};
    for (std::size_t next = 0; next < queue.size(); ++next) {
      const At at = queue[next];
      if (at.hop && arrived(*at.node))
        return at.hop;
      for (const auto& link : at.node->links) {
        if (!at.hop && !allowed(link))
          continue;
        for (const auto& neighbour : plan_.nodes) {
          const PlannedLink* theirs = on_bridge(neighbour, link.bridge);
          if (theirs == nullptr || !routes(neighbour) || !seen.insert(&neighbour).second)
            continue;
          queue.push_back({&neighbour, at.hop ? at.hop : Hop{link.interface, theirs}});
        }
      }
    }
    return std::nullopt;
  }

  // Legs say which segments are behind them; a leg that says nothing of one does not lead there.
  [[nodiscard]] bool leg_leads_to(const PlannedNetns& node, const PlannedLink& link,
                                  const policy::Segment& segment) const {
    const auto enforcer = site_.inventory.enforcers.find(node.enforcer);
    for (const auto& leg : enforcer->second.legs) {
      if (leg.interface != link.interface)
        continue;
      if (leg.vrf && leg.vrf->text != vrf_of(segment))
        return false;
      return std::any_of(leg.behind.begin(), leg.behind.end(),
                         [&](const auto& glob) { return glob_matches(glob.text, segment.name); });
    }
    return true;  // not a leg of the inventory: a switch's own port
  }

  [[nodiscard]] bool leaks(const PlannedNetns& node, const policy::Segment& segment) const {
    const auto vrf = site_.policy.vrfs.find(node.vrf);
    if (vrf == site_.policy.vrfs.end())
      return false;
    return std::any_of(vrf->second.leaks.begin(), vrf->second.leaks.end(), [&](const auto& leak) {
      if (leak.vrf.text != vrf_of(segment))
        return false;
      return leak.prefixes.empty() ||
             std::any_of(leak.prefixes.begin(), leak.prefixes.end(), [&](const auto& leaked) {
               return std::any_of(segment.prefixes.begin(), segment.prefixes.end(),
                                  [&](const auto& prefix) { return leaked.overlaps(prefix); });
             });
    });
  }

  [[nodiscard]] std::optional<Hop> hop_to(const PlannedNetns& node,
                                          const policy::Segment& segment) const {
    // Between two VRFs of one switch: by an intended leak, else only by way of a router that has
    // legs to both.
    const bool by_leak =
        segment.gateway && segment.gateway->text == node.enforcer && leaks(node, segment);
    return first_hop(
        node, [&](const auto& other) { return is_gateway(other, segment); },
        [&](const auto& link) {
          const bool leak_link = plan_.bridges[link.bridge].starts_with("leak ");
          return leak_link == by_leak && leg_leads_to(node, link, segment);
        });
  }

  void add(PlannedNetns& node, const Prefix& to, std::optional<Address> via, std::string dev) {
    if (known_.insert({&node, to}).second)
      node.routes.push_back({to, via, std::move(dev), 0});
  }

  void add_via(PlannedNetns& node, const Prefix& to, const std::optional<Hop>& hop) {
    const auto via = hop ? address_in(*hop->theirs, to.family()) : std::nullopt;
    if (via)
      add(node, to, via, hop->dev);
    else
      add(node, to, std::nullopt, "");
  }

  void route_router(PlannedNetns& node) {
    for (const auto& link : node.links)
      for (const auto& address : link.addresses)
        known_.insert({&node, address.prefix()});
    for (const auto& [name, segment] : site_.policy.segments)
      if (segment.behind)
        route_behind(node, segment);
    for (const auto& [name, segment] : site_.policy.segments) {
      const auto bridge = segment_bridge(name);
      if (segment.behind || (bridge && on_bridge(node, *bridge) != nullptr))
        continue;
      const auto hop = hop_to(node, segment);
      for (const auto& prefix : segment.prefixes)
        add_via(node, prefix, hop);
    }
    for (const auto& [name, external] : site_.policy.externals)
      route_external(node, external);
  }

  // Each placed address via the host that holds it; the rest of the prefix via the router of the
  // hosts behind, or via the first such host where there are none.
  void route_behind(PlannedNetns& node, const policy::Segment& segment) {
    if (const PlannedNetns* router = plan_.find("behind:" + segment.name)) {
      const PlannedLink& outer = router->links.front();
      const PlannedLink* ours = on_bridge(node, outer.bridge);
      const auto base = site_.policy.segments.find(bridge_segment(outer.bridge));
      const auto hop =
          ours ? std::optional(Hop{ours->interface, &outer}) : hop_to(node, base->second);
      for (const auto& prefix : segment.prefixes)
        add_via(node, prefix, hop);
    }
    for (const auto& placed : compiler::place_behind(segment, site_.policy, site_.inventory)) {
      const PlannedNetns* host = plan_.find(placed.host);
      const PlannedLink* nic = nullptr;
      for (const auto& link : host->links)
        if (link.interface == placed.nic)
          nic = &link;
      if (nic == nullptr)
        continue;
      std::optional<Hop> hop;
      if (const PlannedLink* ours = on_bridge(node, nic->bridge)) {
        hop = Hop{ours->interface, nic};
      } else {
        const auto base = site_.policy.segments.find(bridge_segment(nic->bridge));
        hop = hop_to(node, base->second);
      }
      add_via(node, alone(placed.address), hop);
      for (const auto& prefix : segment.prefixes)
        if (prefix.contains(placed.address))
          add_via(node, prefix, hop);
    }
  }

  void route_external(PlannedNetns& node, const policy::External& external) {
    const PlannedNetns* outside = plan_.find("external:" + external.name);
    if (outside == nullptr)
      return;
    std::optional<Hop> hop;
    for (const auto& link : outside->links)
      if (const PlannedLink* ours = on_bridge(node, link.bridge))
        hop = Hop{ours->interface, &link};
    if (!hop) {
      const auto touches = [&](const PlannedNetns& other) {
        return std::any_of(outside->links.begin(), outside->links.end(), [&](const auto& link) {
          return on_bridge(other, link.bridge) != nullptr;
        });
      };
      hop = first_hop(node, touches, [&](const auto& link) {
        return bridge_segment(link.bridge).empty() &&
               !plan_.bridges[link.bridge].starts_with("leak ");
      });
    }
    std::vector<Prefix> prefixes = external.prefixes;
    if (external.rest_v4)
      prefixes.push_back(everything(Family::V4));
    if (external.rest_v6)
      prefixes.push_back(everything(Family::V6));
    for (const auto& prefix : prefixes)
      add_via(node, prefix, hop);
  }

  const compiler::Site& site_;
  LabPlan& plan_;
  std::set<std::pair<const PlannedNetns*, Prefix>> known_;
};

}  // namespace

void plan_routes(const compiler::Site& site, LabPlan& plan) {
  Router(site, plan).fill();
}

}  // namespace bulkhead::scenarios
