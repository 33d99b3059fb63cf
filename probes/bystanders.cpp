#include "probes/bystanders.h"

#include <algorithm>

namespace bulkhead::probes {
namespace {

using compiler::Place;
using policy::ClassKind;

constexpr std::string_view kUndeclared = "no segment that the inventory knows";

}  // namespace

Bystanders::Bystanders(const compiler::Site& site)
    : site_(site), topology_(site.policy, site.inventory, site.matrix.universe) {}

bool Bystanders::leaks(const compiler::Probe& probe, const std::string& host,
                       const std::string& interface) const {
  const std::set<std::string> may_see = on_the_way(probe);
  const std::string seen_in = place_of(host, interface);
  if (!seen_in.empty() && seen_in != kUndeclared)
    return !may_see.contains(seen_in);
  // Perhaps what a declared NIC is made of: it stands in one of the host's segments, whichever.
  const auto found = site_.inventory.hosts.find(host);
  return found != site_.inventory.hosts.end() &&
         std::none_of(found->second.nics.begin(), found->second.nics.end(),
                      [&](const compiler::Nic& nic) { return may_see.contains(nic.segment.text); });
}

std::string Bystanders::place_of(const std::string& host, const std::string& interface) const {
  const auto found = site_.inventory.hosts.find(host);
  if (found == site_.inventory.hosts.end())
    return site_.matrix.universe.find(host) != nullptr ? host : "";  // the lab's outside worlds
  const auto nic = std::find_if(found->second.nics.begin(), found->second.nics.end(),
                                [&](const compiler::Nic& n) { return n.name == interface; });
  return nic == found->second.nics.end() ? std::string(kUndeclared) : nic->segment.text;
}

// The sender's own segment, that of the hosts that it is behind, and each that a packet of it
// crosses up to the first firewall of ours, or, where there is none, to whatever is declared.
std::set<std::string> Bystanders::on_the_way(const compiler::Probe& probe) const {
  const policy::Class& cls = site_.matrix.universe.classes[probe.from.cls];
  if (cls.kind == ClassKind::Enforcer)
    return {};
  std::set<std::string> segments{cls.kind == ClassKind::External ? cls.name : cls.place,
                                 place_of(probe.from.host, probe.from.nic)};
  const std::size_t from = topology_.place_of(probe.from.cls);
  const std::size_t to = topology_.place_of(probe.to.cls);
  const auto has_paths = [&](std::size_t place) {
    const Place::What what = topology_.places()[place].what;
    return what != Place::What::Nowhere && what != Place::What::Partition;
  };
  segments.insert(topology_.places()[from].name);
  if (from == to || !has_paths(from) || !has_paths(to))
    return segments;
  for (const compiler::Hop& hop : topology_.path(from, to).hops) {
    if (hop.in && hop.in->segment)
      segments.insert(hop.in->segment->text);
    if (hop.router->manage == compiler::Manage::Bulkhead)
      break;
  }
  return segments;
}

}  // namespace bulkhead::probes
