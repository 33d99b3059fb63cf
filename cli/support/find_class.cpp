#include "cli/support/find_class.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "cli/support/terminal.h"
#include "policy/matrix.h"

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

// As a selector of a flow reads it: what several classes have in common.
std::vector<policy::ClassId> selected(const policy::Universe& universe, std::string_view text) {
  using What = policy::Selector::What;
  constexpr std::string_view kTenant = "tenant:";
  policy::Selector selector;
  if (text.starts_with(kTenant)) {
    selector.what = What::Tenant;
    selector.name = text.substr(kTenant.size());
    return policy::select(selector, universe);
  }
  const std::size_t dot = std::min(text.find('.'), text.size());
  selector.name = text.substr(0, dot);
  selector.label = text.substr(std::min(dot + 1, text.size()));
  for (const What what : {What::Segment, What::Partition}) {
    selector.what = what;
    if (auto classes = policy::select(selector, universe); !classes.empty())
      return classes;
  }
  return {};
}

std::vector<Found> whole(const policy::Universe& universe,
                         const std::vector<policy::ClassId>& classes) {
  std::vector<Found> out;
  for (const policy::ClassId id : classes)
    out.push_back({id, policy::carriers(universe.classes[id])});
  return out;
}

// What can be said of an address that no class has: rules speak for enforcers alone, and neighbours
// of one segment need none.
std::string about_nobodys(const compiler::Site& site, const Address& address) {
  std::string text;
  for (const auto& [name, segment] : site.policy.segments) {
    if (std::none_of(segment.prefixes.begin(), segment.prefixes.end(),
                     [&](const Prefix& prefix) { return prefix.range().contains(address); }))
      continue;
    if (segment.inside == policy::Inside::Isolated)
      text += fmt::format("; segment {} is isolated: that keeps it from its neighbours, too",
                          printable(name));
    else
      text += fmt::format(
          "; inside its own segment {}, which is open, nothing of ours stands between it and its "
          "neighbours",
          printable(name));
  }
  return fmt::format(
      "`{}` is in no class: no host of the inventory and no external has it. Through an enforcer "
      "nothing passes to it, and what comes from it is dropped as spoofed{}",
      address.str(), text);
}

// "gw" for the enforcer gw, "fw-a" for a member of one, "red" for a tenant: classes have other
// names.
std::string other_names(const compiler::Site& site, std::string_view text) {
  std::string others;
  const auto add = [&](const std::string& name) {
    others += fmt::format("{}`{}`", others.empty() ? "" : ", ", printable(name));
  };
  if (site.policy.tenants.contains(std::string(text)))
    add(fmt::format("tenant:{}", text));
  for (const policy::Class& cls : site.matrix.universe.classes) {
    const auto enforcer = site.inventory.enforcers.find(cls.place);
    const bool is_member =
        cls.kind == policy::ClassKind::Enforcer && enforcer != site.inventory.enforcers.end() &&
        std::find(enforcer->second.members.begin(), enforcer->second.members.end(), text) !=
            enforcer->second.members.end();
    if (cls.place == text || cls.tenant == text || is_member)
      add(cls.name);
  }
  return others;
}

}  // namespace

Result<std::vector<Found>> find_classes(const compiler::Site& site, std::string_view text) {
  const policy::Universe& universe = site.matrix.universe;
  if (const auto id = universe.id_of(text))
    return whole(universe, {*id});

  std::vector<Address> addresses;
  const auto address = Address::parse(text);
  const auto host = site.inventory.hosts.find(std::string(text));
  if (address)
    addresses = {*address};
  else if (host != site.inventory.hosts.end())
    addresses = addresses_of(host->second);
  const std::set<policy::ClassId> found = holders(universe, addresses);
  if (found.size() == 1)
    return std::vector{
        Found{*found.begin(), carriers_of(universe.classes[*found.begin()], addresses)}};

  if (found.size() > 1) {
    std::vector<std::string_view> names;
    for (const policy::ClassId id : found)
      names.push_back(universe.classes[id].name);
    return fail(ErrorKind::Usage, fmt::format("`{}` is in several classes: say one of {}",
                                              printable(text), fmt::join(names, ", ")));
  }
  if (address)
    return fail(ErrorKind::Usage, about_nobodys(site, *address));
  if (host != site.inventory.hosts.end())
    return fail(
        ErrorKind::Usage,
        fmt::format("host `{}` is in no class of this site: no NIC of it has an address in a "
                    "segment",
                    printable(text)));
  if (const auto classes = selected(universe, text); !classes.empty())
    return whole(universe, classes);
  if (const std::string others = other_names(site, text); !others.empty())
    return fail(ErrorKind::Usage, fmt::format("no class, host or address `{}`: did you mean {}?",
                                              printable(text), others));
  std::vector<std::string_view> candidates;
  for (const policy::Class& cls : universe.classes)
    candidates.push_back(cls.name);
  for (const auto& [name, ignored] : site.inventory.hosts)
    candidates.push_back(name);
  for (const auto& [name, ignored] : site.policy.segments)
    candidates.push_back(name);
  const std::string hint = did_you_mean(text, candidates);
  return fail(ErrorKind::Usage,
              fmt::format("no class, host or address `{}`: {}", printable(text),
                          hint.empty() ? "`bulkhead matrix SITE` shows the classes" : hint));
}

}  // namespace bulkhead::cli
