#include "cli/support/find_class.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "cli/support/terminal.h"

namespace bulkhead::cli {
namespace {

std::set<policy::ClassId> holders(const policy::Universe& universe,
                                  const std::vector<Address>& addresses) {
  std::set<policy::ClassId> found;
  for (policy::ClassId id = 0; id < universe.classes.size(); ++id) {
    for (const Address& address : addresses) {
      if (universe.classes[id].addresses.contains(address))
        found.insert(id);
    }
  }
  return found;
}

policy::Carriers carriers_of(const policy::Class& cls, const std::vector<Address>& addresses) {
  std::vector<AddressRange> ranges;
  for (const Address& address : addresses)
    ranges.push_back({address, address});
  policy::Class some = cls;
  some.addresses = cls.addresses & AddressSet::from(std::move(ranges));
  return policy::carriers(some);
}

std::vector<Address> addresses_of(const compiler::Host& host) {
  std::vector<Address> all;
  for (const compiler::Nic& nic : host.nics) {
    all.insert(all.end(), nic.v4.begin(), nic.v4.end());
    all.insert(all.end(), nic.v6.begin(), nic.v6.end());
  }
  return all;
}

}  // namespace

Result<Found> find_class(const compiler::Site& site, std::string_view text) {
  const policy::Universe& universe = site.matrix.universe;
  if (const auto id = universe.id_of(text))
    return Found{*id, policy::carriers(universe.classes[*id])};

  std::vector<Address> addresses;
  const auto address = Address::parse(text);
  const auto host = site.inventory.hosts.find(std::string(text));
  if (address)
    addresses = {*address};
  else if (host != site.inventory.hosts.end())
    addresses = addresses_of(host->second);
  const std::set<policy::ClassId> found = holders(universe, addresses);
  if (found.size() == 1)
    return Found{*found.begin(), carriers_of(universe.classes[*found.begin()], addresses)};

  if (found.size() > 1) {
    std::vector<std::string_view> names;
    for (const policy::ClassId id : found)
      names.push_back(universe.classes[id].name);
    return fail(ErrorKind::Usage, fmt::format("`{}` is in several classes: say one of {}",
                                              printable(text), fmt::join(names, ", ")));
  }
  if (address || host != site.inventory.hosts.end())
    return fail(ErrorKind::Usage,
                fmt::format("`{}` is in no class of this site: nobody may reach it, and what comes "
                            "from it is dropped as spoofed",
                            printable(text)));
  // "gw" for the enforcer gw, "fw-a" for a member of one: the class has another name.
  std::string others;
  for (const policy::Class& cls : universe.classes) {
    const auto enforcer = site.inventory.enforcers.find(cls.place);
    const bool is_member =
        cls.kind == policy::ClassKind::Enforcer && enforcer != site.inventory.enforcers.end() &&
        std::find(enforcer->second.members.begin(), enforcer->second.members.end(), text) !=
            enforcer->second.members.end();
    if (cls.place == text || cls.tenant == text || is_member)
      others += fmt::format("{}`{}`", others.empty() ? "" : ", ", printable(cls.name));
  }
  if (!others.empty())
    return fail(ErrorKind::Usage, fmt::format("no class, host or address `{}`: did you mean {}?",
                                              printable(text), others));
  std::vector<std::string_view> candidates;
  for (const policy::Class& cls : universe.classes)
    candidates.push_back(cls.name);
  for (const auto& [name, ignored] : site.inventory.hosts)
    candidates.push_back(name);
  const std::string hint = did_you_mean(text, candidates);
  return fail(ErrorKind::Usage,
              fmt::format("no class, host or address `{}`: {}", printable(text),
                          hint.empty() ? "`bulkhead matrix SITE` shows the classes" : hint));
}

}  // namespace bulkhead::cli
