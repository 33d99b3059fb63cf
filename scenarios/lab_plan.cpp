#include "scenarios/lab_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "compiler/placement.h"
#include "policy/support/sha256.h"

namespace bulkhead::scenarios {

namespace {

using compiler::Enforcer;
using compiler::EnforcerKind;
using compiler::Leg;

std::optional<Address> parse(const std::string& text) {
  return Address::parse(text);
}

class Planner {
 public:
  explicit Planner(const compiler::Site& site) : site_(site) {}

  LabPlan plan() {
    for (const auto& [name, segment] : site_.policy.segments)
      bridge("segment " + name);
    for (const auto& [name, enforcer] : site_.inventory.enforcers) {
      if (enforcer.kind == EnforcerKind::Switch)
        add_switch(enforcer);
      else if (enforcer.kind != EnforcerKind::Ib)
        add_router(enforcer);
    }
    for (const auto& [name, enforcer] : site_.inventory.enforcers)
      if (enforcer.kind == EnforcerKind::Router)
        connect_transit_legs(enforcer);
    connect_leaks();
    for (const auto& [name, host] : site_.inventory.hosts)
      add_host(host);
    for (const auto& host : compiler::outside_hosts(site_.matrix.universe, site_.inventory))
      add_external(host);
    for (const auto& [name, segment] : site_.policy.segments)
      add_behind(segment);
    plan_routes(site_, plan_);
    return std::move(plan_);
  }

 private:
  std::size_t bridge(const std::string& what) {
    const auto [found, is_new] = bridge_of_.try_emplace(what, plan_.bridges.size());
    if (is_new)
      plan_.bridges.push_back(what);
    return found->second;
  }
  std::size_t segment_bridge(const std::string& segment) { return bridge("segment " + segment); }

  [[nodiscard]] const policy::Segment* segment(const std::string& name) const {
    const auto found = site_.policy.segments.find(name);
    return found == site_.policy.segments.end() ? nullptr : &found->second;
  }
  static std::string vrf_of(const policy::Segment& segment) {
    return segment.vrf ? segment.vrf->text : std::string();
  }
  static std::vector<InterfaceAddress> own_addresses(const Leg& leg) {
    std::vector<InterfaceAddress> addresses;
    if (leg.v4)
      addresses.push_back(*leg.v4);
    if (leg.v6)
      addresses.push_back(*leg.v6);
    return addresses;
  }

  // Members of a pair have the same legs; only the first carries traffic.
  void add_router(const Enforcer& enforcer) {
    for (std::size_t i = 0; i < enforcer.members.size(); ++i) {
      PlannedNetns node;
      node.name = enforcer.members[i];
      node.enforcer = enforcer.name;
      node.forwards = true;
      node.role = enforcer.manage == compiler::Manage::Declared ? Role::Switch
                  : i == 0                                      ? Role::Member
                                                                : Role::Standby;
      for (const auto& leg : enforcer.legs) {
        PlannedLink link;
        link.interface = leg.interface;
        link.bridge = leg.segment    ? segment_bridge(leg.segment->text)
                      : leg.external ? bridge(outside_name(enforcer, leg))
                                     : bridge(transit_name(enforcer, leg));
        link.addresses = own_addresses(leg);
        link.up = i == 0;
        node.links.push_back(std::move(link));
      }
      plan_.nodes.push_back(std::move(node));
    }
  }

  static std::string outside_name(const Enforcer& enforcer, const Leg& leg) {
    return "outside " + enforcer.name + " " + leg.interface;
  }
  static std::string transit_name(const Enforcer& enforcer, const Leg& leg) {
    return "transit " + enforcer.name + " " + leg.interface;
  }

  // One namespace for each VRF whose segments it is the gateway of: separate tables, as in the
  // switch. A switch that is no gateway only carries frames: the fabric's bridges are it.
  void add_switch(const Enforcer& enforcer) {
    std::map<std::string, PlannedNetns> by_vrf;
    for (const auto& [name, segment] : site_.policy.segments) {
      if (!segment.gateway || segment.gateway->text != enforcer.name)
        continue;
      auto& node = by_vrf[vrf_of(segment)];
      PlannedLink link;
      link.interface = interface_name(name);
      link.bridge = segment_bridge(name);
      for (const auto& prefix : segment.prefixes)
        link.addresses.push_back(
            {compiler::gateway_address(segment, prefix, site_.inventory), prefix.length});
      node.links.push_back(std::move(link));
    }
    for (auto& [vrf, node] : by_vrf) {
      node.name = vrf.empty() ? enforcer.name : enforcer.name + "." + vrf;
      node.role = Role::Switch;
      node.enforcer = enforcer.name;
      node.vrf = vrf;
      node.forwards = true;
      plan_.nodes.push_back(std::move(node));
    }
  }

  PlannedNetns* switch_node(const std::string& enforcer, const std::string& vrf) {
    for (auto& node : plan_.nodes)
      if (node.role == Role::Switch && node.enforcer == enforcer && node.vrf == vrf)
        return &node;
    return nullptr;
  }
  PlannedNetns* active_node(const std::string& enforcer) {
    for (auto& node : plan_.nodes)
      if (node.enforcer == enforcer && node.role != Role::Standby)
        return &node;
    return nullptr;
  }

  // What is at the other end of a leg with segments behind it: another router's leg in the same
  // network, else the gateways of those segments.
  void connect_transit_legs(const Enforcer& enforcer) {
    PlannedNetns* self = active_node(enforcer.name);
    for (std::size_t i = 0; self != nullptr && i < enforcer.legs.size(); ++i) {
      const Leg& leg = enforcer.legs[i];
      if (leg.external || (leg.segment && leg.behind.empty()))
        continue;
      const std::size_t shared = self->links[i].bridge;
      if (!leg.segment && join_routers_in_same_network(enforcer, leg, shared))
        continue;
      for (const auto& [name, segment] : site_.policy.segments) {
        if (!segment.gateway || segment.gateway->text == enforcer.name || !is_behind(leg, segment))
          continue;
        if (PlannedNetns* node = switch_node(segment.gateway->text, vrf_of(segment)))
          join(*node, shared, leg);
        else
          join_router(segment.gateway->text, enforcer, shared);
      }
    }
    give_link_addresses();
  }

  static bool is_behind(const Leg& leg, const policy::Segment& segment) {
    if (leg.vrf && vrf_of(segment) != leg.vrf->text)
      return false;
    return std::any_of(leg.behind.begin(), leg.behind.end(),
                       [&](const auto& glob) { return glob_matches(glob.text, segment.name); });
  }

  bool join_routers_in_same_network(const Enforcer& enforcer, const Leg& leg, std::size_t shared) {
    bool joined = false;
    for (const auto& [name, other] : site_.inventory.enforcers) {
      for (std::size_t j = 0; name != enforcer.name && j < other.legs.size(); ++j) {
        const Leg& theirs = other.legs[j];
        const bool same = !theirs.segment && !theirs.external &&
                          ((leg.v4 && theirs.v4 && leg.v4->prefix() == theirs.v4->prefix()) ||
                           (leg.v6 && theirs.v6 && leg.v6->prefix() == theirs.v6->prefix()));
        joined = joined || same;
        if (same)
          move_leg(name, j, shared);
      }
    }
    return joined;
  }

  void join_router(const std::string& gateway, const Enforcer& enforcer, std::size_t shared) {
    const auto other = site_.inventory.enforcers.find(gateway);
    if (other == site_.inventory.enforcers.end())
      return;
    for (std::size_t j = 0; j < other->second.legs.size(); ++j) {
      const Leg& theirs = other->second.legs[j];
      if (theirs.segment || theirs.external)
        continue;
      const bool looks_back = std::any_of(
          site_.policy.segments.begin(), site_.policy.segments.end(), [&](const auto& item) {
            const auto& segment = item.second;
            return segment.gateway && segment.gateway->text == enforcer.name &&
                   is_behind(theirs, segment);
          });
      if (looks_back)
        move_leg(gateway, j, shared);
    }
  }

  void move_leg(const std::string& enforcer, std::size_t leg, std::size_t shared) {
    for (auto& node : plan_.nodes)
      if (node.enforcer == enforcer && leg < node.links.size())
        node.links[leg].bridge = shared;
  }

  // A switch gets a port on the transit network, with an address of the leg's own network where the
  // leg has one.
  void join(PlannedNetns& node, std::size_t shared, const Leg& leg) {
    for (const auto& link : node.links)
      if (link.bridge == shared)
        return;
    PlannedLink link;
    link.interface = interface_name("up-" + leg.interface);
    link.bridge = shared;
    for (const auto& ours : own_addresses(leg)) {
      Address address = succ(ours.prefix().base);
      while (address_taken(shared, address))
        address = succ(address);
      if (ours.prefix().contains(address) && !leg.segment)
        link.addresses.push_back({address, ours.length});
    }
    node.links.push_back(std::move(link));
  }

  [[nodiscard]] bool address_taken(std::size_t bridge, const Address& address) const {
    for (const auto& node : plan_.nodes)
      for (const auto& link : node.links)
        for (const auto& taken : link.addresses)
          if (link.bridge == bridge && taken.address == address)
            return true;
    return false;
  }

  // VRFs of one switch between which a leak is intended meet on a link of their own.
  void connect_leaks() {
    for (const auto& [name, vrf] : site_.policy.vrfs) {
      for (const auto& leak : vrf.leaks) {
        for (const auto& [enforcer, unused] : site_.inventory.enforcers) {
          PlannedNetns* from = switch_node(enforcer, name);
          PlannedNetns* to = switch_node(enforcer, leak.vrf.text);
          if (from == nullptr || to == nullptr)
            continue;
          const std::string pair =
              std::min(name, leak.vrf.text) + "-" + std::max(name, leak.vrf.text);
          const std::size_t shared = bridge("leak " + enforcer + " " + pair);
          for (auto* node : {from, to}) {
            const bool there = std::any_of(node->links.begin(), node->links.end(),
                                           [&](const auto& l) { return l.bridge == shared; });
            if (!there)
              node->links.push_back(PlannedLink{
                  interface_name("leak-" + pair), shared, false, true, std::nullopt, {}});
          }
        }
      }
    }
    give_link_addresses();
  }

  // A transit network needs next hops in both families. Link-local ones belong to no class and
  // never appear in a packet that is probed.
  void give_link_addresses() {
    for (std::size_t shared = 0; shared < plan_.bridges.size(); ++shared) {
      std::vector<PlannedLink*> ports;
      for (auto& node : plan_.nodes)
        for (auto& link : node.links)
          if (link.bridge == shared && node.role != Role::Standby)
            ports.push_back(&link);
      const bool segment = plan_.bridges[shared].starts_with("segment ");
      if (plan_.bridges[shared].starts_with("outside ") || (segment && ports.size() < 2))
        continue;
      for (std::size_t i = 0; i < ports.size(); ++i) {
        for (const Family family : kFamilies) {
          const auto& have = ports[i]->addresses;
          if (std::any_of(have.begin(), have.end(),
                          [&](const auto& a) { return a.address.family == family; }))
            continue;
          const auto address = family == Family::V4
                                   ? parse(fmt::format("169.254.{}.{}", shared % 254 + 1, i + 1))
                                   : parse(fmt::format("fe80::{:x}", i + 1));
          ports[i]->addresses.push_back(
              {*address, static_cast<std::uint8_t>(family == Family::V4 ? 24 : 64)});
        }
      }
    }
  }

  void add_host(const compiler::Host& host) {
    PlannedNetns node;
    node.name = host.name;
    node.role = Role::Host;
    node.forwards = host.forwards.value_or(false);
    for (const auto& nic : host.nics) {
      const policy::Segment* segment = this->segment(nic.segment.text);
      if (segment == nullptr)
        continue;
      PlannedLink link;
      link.interface = nic.name;
      link.bridge = segment_bridge(segment->name);
      link.isolated = segment->inside == policy::Inside::Isolated;
      link.mac = nic.mac;
      for (const auto* family : {&nic.v4, &nic.v6})
        for (const auto& address : *family)
          link.addresses.push_back({address, on_link_length(*segment, address)});
      node.links.push_back(std::move(link));
    }
    for (const auto& [name, segment] : site_.policy.segments) {
      for (const auto& placed : compiler::place_behind(segment, site_.policy, site_.inventory)) {
        if (placed.host != host.name)
          continue;
        for (auto& link : node.links)
          if (link.interface == placed.nic)
            link.addresses.push_back(
                {placed.address, static_cast<std::uint8_t>(bits(placed.address.family))});
      }
    }
    plan_.nodes.push_back(std::move(node));
  }

  // Hosts that the inventory lists in a `behind` segment: what leads to them stands, as the hosts
  // that they are behind do, in those hosts' segment, with an address there that nobody has.
  void add_behind(const policy::Segment& segment) {
    const auto holders = compiler::behind_hosts(segment, site_.policy, site_.inventory);
    const bool inhabited =
        std::any_of(plan_.nodes.begin(), plan_.nodes.end(), [&](const PlannedNetns& node) {
          return std::any_of(node.links.begin(), node.links.end(), [&](const PlannedLink& link) {
            return link.bridge == segment_bridge(segment.name);
          });
        });
    if (holders.empty() || !inhabited)
      return;
    const policy::Segment* base = this->segment(holders.front().nic->segment.text);
    if (base == nullptr)
      return;
    PlannedNetns node;
    node.name = "behind:" + segment.name;
    node.role = Role::Behind;
    node.forwards = true;
    for (const policy::Segment* side : {base, &segment}) {
      PlannedLink link;
      link.interface = side == base ? "outer" : "inner";  // "up" is a word of ip(8)
      link.bridge = segment_bridge(side->name);
      for (const Prefix& prefix : side->prefixes)
        if (const auto address = free_address(*side, prefix))
          link.addresses.push_back({*address, prefix.length});
      node.links.push_back(std::move(link));
    }
    plan_.nodes.push_back(std::move(node));
  }

  // The last of the prefix that neither the inventory nor the lab has given away.
  [[nodiscard]] std::optional<Address> free_address(const policy::Segment& segment,
                                                    const Prefix& prefix) {
    const Address gateway = compiler::gateway_address(segment, prefix, site_.inventory);
    Address address = prefix.last();
    while (prefix.base < address) {
      address = pred(address);  // the last one is IPv4's broadcast
      if (address != prefix.base && address != gateway &&
          !address_taken(segment_bridge(segment.name), address))
        return address;
    }
    return std::nullopt;
  }

  static std::uint8_t on_link_length(const policy::Segment& segment, const Address& address) {
    for (const auto& prefix : segment.prefixes)
      if (prefix.contains(address))
        return prefix.length;
    return static_cast<std::uint8_t>(bits(address.family));
  }

  // One namespace for an external, with a link to each leg towards it; its own address is on the
  // first.
  void add_external(const compiler::OutsideHost& host) {
    PlannedNetns node;
    node.name = host.name;
    node.role = Role::Outside;
    for (const auto& [enforcer_name, enforcer] : site_.inventory.enforcers) {
      for (const auto& leg : enforcer.legs) {
        if (!leg.external || "external:" + leg.external->text != host.name)
          continue;
        PlannedLink link;
        link.interface = "up" + std::to_string(node.links.size());
        link.bridge = bridge(outside_name(enforcer, leg));
        for (const auto& ours : own_addresses(leg))
          link.addresses.push_back({compiler::peer_address(ours), ours.length});
        if (enforcer_name == host.enforcer && leg.interface == host.interface)
          for (const auto* own : {&host.v4, &host.v6})
            if (*own)
              link.addresses.push_back({**own, static_cast<std::uint8_t>(bits((*own)->family))});
        node.links.push_back(std::move(link));
      }
    }
    plan_.nodes.push_back(std::move(node));
  }

  const compiler::Site& site_;
  LabPlan plan_;
  std::map<std::string, std::size_t> bridge_of_;
};

}  // namespace

const PlannedNetns* LabPlan::find(const std::string& name) const {
  const auto found =
      std::find_if(nodes.begin(), nodes.end(), [&](const auto& node) { return node.name == name; });
  return found == nodes.end() ? nullptr : &*found;
}

LabPlan plan_lab(const compiler::Site& site) {
  return Planner(site).plan();
}

bool glob_matches(std::string_view glob, std::string_view name) {
  const std::size_t star = glob.find('*');
  if (star == std::string_view::npos)
    return glob == name;
  if (!name.starts_with(glob.substr(0, star)))
    return false;
  const std::string_view rest = glob.substr(star + 1);
  for (std::size_t at = star; at <= name.size(); ++at)
    if (glob_matches(rest, name.substr(at)))
      return true;
  return false;
}

std::string interface_name(const std::string& wanted) {
  constexpr std::size_t kMost = 15;  // IFNAMSIZ without its zero
  if (wanted.size() <= kMost)
    return wanted;
  return wanted.substr(0, 10) + "-" + sha256_hex(wanted).substr(0, 4);
}

}  // namespace bulkhead::scenarios
