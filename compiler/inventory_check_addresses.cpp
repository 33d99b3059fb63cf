#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "compiler/inventory_checks.h"

namespace bulkhead::compiler {
namespace {

struct Owner {
  std::string what;
  SourcePos at;
};

// Who has what, and a word for the second one who claims it.
template <class Key>
class Owners {
 public:
  explicit Owners(std::string_view code) : code_(code) {}
  void claim(Key key, const std::string& shown, Owner owner, Diagnostics& diagnostics) {
    const auto [entry, is_new] = owners_.try_emplace(std::move(key), owner);
    if (is_new)
      return;
    diagnostics
        .error(std::string(code_), owner.at,
               fmt::format("{} of {} belongs to {} already", shown, owner.what, entry->second.what))
        .related.push_back({entry->second.at, "first here"});
  }

 private:
  std::string_view code_;
  std::map<Key, Owner> owners_;
};

std::string vrf_of_segment(const policy::Policy& policy, const std::string& segment) {
  const auto found = policy.segments.find(segment);
  return found != policy.segments.end() && found->second.vrf ? found->second.vrf->text : "";
}

// So that "first" in a message is what a reader meets first.
std::vector<std::pair<const Host*, const Nic*>> nics_by_line(const Inventory& inventory) {
  std::vector<std::pair<const Host*, const Nic*>> out;
  for (const auto& [name, host] : inventory.hosts)
    for (const Nic& nic : host.nics)
      out.emplace_back(&host, &nic);
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.second->at < b.second->at; });
  return out;
}

}  // namespace

void check_addresses(const InventoryCheck& check) {
  Diagnostics& diagnostics = check.diagnostics;
  Owners<std::pair<std::string, Address>> addresses("duplicate-address");
  Owners<std::array<std::uint8_t, 6>> macs("duplicate-mac");
  Owners<std::string> guids("duplicate-guid");
  // Legs first: where a host holds the gateway's address, the host's line is the one to mend.
  for (const auto& [name, enforcer] : check.inventory.enforcers)
    for (const Leg& leg : enforcer.legs) {
      const std::string vrf = leg.vrf       ? leg.vrf->text
                              : leg.segment ? vrf_of_segment(check.policy, leg.segment->text)
                                            : "";
      for (const auto& own : {leg.v4, leg.v6})
        if (own)
          addresses.claim({vrf, own->address}, own->address.str(),
                          {fmt::format("enforcer {} (leg {})", name, leg.interface), leg.at},
                          diagnostics);
    }
  for (const auto& [host, nic_of_host] : nics_by_line(check.inventory)) {
    const Nic& nic = *nic_of_host;
    const Owner owner{fmt::format("host {} (NIC {})", host->name, nic.name), nic.at};
    const std::string vrf = vrf_of_segment(check.policy, nic.segment.text);
    for (const auto* own : {&nic.v4, &nic.v6})
      for (const Address& address : *own)
        addresses.claim({vrf, address}, address.str(), owner, diagnostics);
    if (nic.mac)
      macs.claim(*nic.mac, fmt::format("MAC {:02x}", fmt::join(*nic.mac, ":")), owner, diagnostics);
    if (!nic.port_guid.empty())
      guids.claim(nic.port_guid, "GUID " + nic.port_guid, owner, diagnostics);
  }
}

}  // namespace bulkhead::compiler
