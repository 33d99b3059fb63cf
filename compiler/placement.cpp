#include "compiler/placement.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace bulkhead::compiler {

namespace {

// base + steps, or nothing outside the prefix.
std::optional<Address> nth(const Prefix& prefix, std::uint32_t steps) {
  Address address = prefix.base;
  const std::size_t width = bits(prefix.family()) / 8;
  std::uint64_t carry = steps;
  for (std::size_t i = width; i-- > 0 && carry > 0;) {
    carry += address.bytes[i];
    address.bytes[i] = static_cast<std::uint8_t>(carry & 0xff);
    carry >>= 8;
  }
  if (carry > 0 || !prefix.contains(address))
    return std::nullopt;
  return address;
}

bool has_label(const Host& host, const std::string& label) {
  return std::binary_search(host.labels.begin(), host.labels.end(), label);
}

const Nic* nic_towards(const Host& host, const std::string& segment, const policy::Policy& policy) {
  for (const auto& nic : host.nics) {
    if (!segment.empty() && nic.segment.text == segment)
      return &nic;
    const auto found = policy.segments.find(nic.segment.text);
    if (segment.empty() && found != policy.segments.end() && found->second.gateway)
      return &nic;
  }
  return segment.empty() && !host.nics.empty() ? &host.nics.front() : nullptr;
}

// Documentation prefixes (RFC 5737, RFC 3849): no real host is spoken to by mistake.
constexpr std::string_view kPreferred[] = {"198.51.100.10", "192.0.2.10", "203.0.113.200",
                                           "2001:db8::10", "2001:db8:ffff::10"};

bool usable(const Address& address) {
  return !address.is_unspecified() && !address.is_loopback() && !address.is_multicast() &&
         !address.is_link_local();
}

std::optional<Address> outside_address(const AddressSet& all, Family family,
                                       const std::optional<InterfaceAddress>& leg) {
  if (!leg)
    return std::nullopt;
  // The link itself is left out: its other addresses belong to the next hop.
  const AddressSet free =
      of_family(all, family) - AddressSet{{leg->prefix().base, leg->prefix().last()}};
  for (const std::string_view text : kPreferred) {
    const auto address = Address::parse(text);
    if (address && free.contains(*address))
      return address;
  }
  for (const AddressRange& range : free) {
    // Not the first: it may be a network address.
    const Address second = range.first == range.last ? range.first : succ(range.first);
    if (usable(second))
      return second;
  }
  return std::nullopt;
}

}  // namespace

Address peer_address(const InterfaceAddress& leg) {
  const Address first = succ(leg.prefix().base);
  return first == leg.address ? succ(first) : first;
}

std::vector<BehindHost> behind_hosts(const policy::Segment& segment, const policy::Policy& policy,
                                     const Inventory& inventory) {
  std::vector<BehindHost> found;
  if (!segment.behind)
    return found;
  const std::string& text = segment.behind->text;
  if (const auto host = inventory.hosts.find(text); host != inventory.hosts.end()) {
    if (const Nic* nic = nic_towards(host->second, "", policy))
      found.push_back({&host->second, nic});
    return found;
  }
  const std::size_t dot = text.rfind('.');
  const std::string place = dot == std::string::npos ? "" : text.substr(0, dot);
  const std::string label = dot == std::string::npos ? text : text.substr(dot + 1);
  for (const auto& [name, host] : inventory.hosts) {
    if (host.spare || !has_label(host, label))
      continue;
    if (const Nic* nic = nic_towards(host, place, policy))
      found.push_back({&host, nic});
  }
  return found;
}

std::vector<Placement> place_behind(const policy::Segment& segment, const policy::Policy& policy,
                                    const Inventory& inventory) {
  std::vector<Placement> placements;
  std::set<Address> taken;  // by hosts that the inventory lists there, spare ones among them
  for (const auto& [name, host] : inventory.hosts)
    for (const Nic& nic : host.nics)
      if (nic.segment.text == segment.name) {
        taken.insert(nic.v4.begin(), nic.v4.end());
        taken.insert(nic.v6.begin(), nic.v6.end());
      }
  const auto hosts = behind_hosts(segment, policy, inventory);
  for (std::size_t k = 0; k < hosts.size(); ++k) {
    for (const auto& prefix : segment.prefixes) {
      // As a container network cuts it: a /24 for each worker where the prefix is large enough.
      const bool roomy = bits(prefix.family()) - prefix.length >= 16;
      const auto steps = static_cast<std::uint32_t>(roomy ? (k + 1) * 256 + 10 : k + 1);
      auto address = nth(prefix, steps);
      while (address && taken.contains(*address) && *address < prefix.last())
        address = succ(*address);
      if (address && taken.insert(*address).second)
        placements.push_back({hosts[k].host->name, hosts[k].nic->name, *address});
    }
  }
  return placements;
}

std::vector<OutsideHost> outside_hosts(const policy::Universe& universe,
                                       const Inventory& inventory) {
  std::vector<OutsideHost> hosts;
  std::set<std::string> seen;
  for (const auto& [name, enforcer] : inventory.enforcers) {
    for (const Leg& leg : enforcer.legs) {
      if (!leg.external || !seen.insert(leg.external->text).second)
        continue;
      const std::string class_name = "external:" + leg.external->text;
      const policy::Class* cls = universe.find(class_name);
      if (!cls)
        continue;
      OutsideHost host{class_name, name, leg.interface,
                       outside_address(cls->addresses, Family::V4, leg.v4),
                       outside_address(cls->addresses, Family::V6, leg.v6)};
      if (host.v4 || host.v6)
        hosts.push_back(std::move(host));
    }
  }
  std::sort(hosts.begin(), hosts.end(),
            [](const OutsideHost& a, const OutsideHost& b) { return a.name < b.name; });
  return hosts;
}

Address gateway_address(const policy::Segment& segment, const Prefix& prefix,
                        const Inventory& inventory) {
  if (segment.gateway) {
    const auto enforcer = inventory.enforcers.find(segment.gateway->text);
    if (enforcer != inventory.enforcers.end()) {
      for (const auto& leg : enforcer->second.legs) {
        const auto& address = prefix.family() == Family::V4 ? leg.v4 : leg.v6;
        if (leg.segment && leg.segment->text == segment.name && address &&
            prefix.contains(address->address))
          return address->address;
      }
    }
  }
  return succ(prefix.base);
}

}  // namespace bulkhead::compiler
