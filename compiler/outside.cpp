#include "compiler/outside.h"

#include <algorithm>
#include <set>

namespace bulkhead::compiler {
namespace {

// Documentation prefixes (RFC 5737, RFC 3849): no real host is spoken to by mistake.
constexpr std::string_view kPreferred[] = {"198.51.100.10", "192.0.2.10", "203.0.113.200",
                                           "2001:db8::10", "2001:db8:ffff::10"};

bool usable(const Address& address) {
  return !address.is_unspecified() && !address.is_loopback() && !address.is_multicast() &&
         !address.is_link_local();
}

std::optional<Address> pick(const AddressSet& all, Family family,
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
      OutsideHost host{class_name, name, leg.interface, pick(cls->addresses, Family::V4, leg.v4),
                       pick(cls->addresses, Family::V6, leg.v6)};
      if (host.v4 || host.v6)
        hosts.push_back(std::move(host));
    }
  }
  std::sort(hosts.begin(), hosts.end(),
            [](const OutsideHost& a, const OutsideHost& b) { return a.name < b.name; });
  return hosts;
}

}  // namespace bulkhead::compiler
