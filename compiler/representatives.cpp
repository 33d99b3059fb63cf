#include "compiler/representatives.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include "compiler/placement.h"

namespace bulkhead::compiler {
namespace {

using policy::Class;
using policy::ClassId;
using policy::ClassKind;

// splitmix64 over FNV-1a: the same host gets the same place for a seed whatever else the site has.
std::uint64_t place_of(std::uint64_t seed, const ProbeEnd& end) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const std::string& text : {end.host, end.nic, end.address.str()}) {
    for (const char c : text)
      hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  }
  hash += seed * 0x9e3779b97f4a7c15ULL;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9ULL;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebULL;
  return hash ^ (hash >> 31);
}

int preference(const ProbeEnd& end) {
  if (end.agentless)
    return 2;
  return end.stands_for.empty() ? 0 : 1;
}

bool lives_in_segment(ClassKind kind) {
  return kind == ClassKind::Endpoint || kind == ClassKind::Behind || kind == ClassKind::Spare;
}

std::string absence(const Class& cls) {
  switch (cls.kind) {
    case ClassKind::Partition:
      return "InfiniBand partition " + cls.place + " has no IP addresses";
    case ClassKind::External:
      return "no host stands for the outside world " + cls.place;
    case ClassKind::Enforcer:
      return "no leg of " + cls.place + " has an address that may be probed";
    case ClassKind::Behind:
      return "no host of the inventory has an address in " + cls.place + " that may be probed";
    case ClassKind::Endpoint:
    case ClassKind::Spare:
      break;
  }
  return "no host of " + cls.name + " has an address that may be probed";
}

std::optional<InterfaceAddress> leg_address(const Leg& leg, Family family) {
  return family == Family::V4 ? leg.v4 : leg.v6;
}

}  // namespace

Representatives::Representatives(const Site& site, const PlanOptions& options)
    : site_(site), candidates_(site.matrix.universe.classes.size() * 2) {
  add_hosts();
  if (options.outside_hosts)
    add_outside_hosts();
  add_enforcers();
  order(options.seed);
  explain_absences();
  count_hosts();
}

const Representatives::Candidates& Representatives::of(ClassId cls, Family family) const {
  return candidates_[cls * 2 + (family == Family::V4 ? 0 : 1)];
}

void Representatives::add(ProbeEnd end) {
  const auto& never = site_.inventory.probe.never;
  if (std::find(never.begin(), never.end(), end.address) != never.end())
    return;
  candidates_[end.cls * 2 + (end.address.family == Family::V4 ? 0 : 1)].ends.push_back(
      static_cast<EndId>(ends_.size()));
  ends_.push_back(std::move(end));
}

void Representatives::add_hosts() {
  const auto& classes = site_.matrix.universe.classes;
  for (const auto& [name, host] : site_.inventory.hosts) {
    for (const Nic& nic : host.nics) {
      std::vector<Address> addresses = nic.v4;
      addresses.insert(addresses.end(), nic.v6.begin(), nic.v6.end());
      for (const Address& address : addresses) {
        for (ClassId cls = 0; cls < classes.size(); ++cls) {
          // By segment and address: two VRFs may use the same addresses.
          if (!lives_in_segment(classes[cls].kind) || classes[cls].place != nic.segment.text ||
              !classes[cls].addresses.contains(address))
            continue;
          add({cls, name, nic.name, address, host.agentless, host.stand_in});
        }
      }
    }
  }
}

void Representatives::add_outside_hosts() {
  const auto& classes = site_.matrix.universe.classes;
  for (const OutsideHost& host : outside_hosts(site_.matrix.universe, site_.inventory)) {
    for (ClassId cls = 0; cls < classes.size(); ++cls) {
      if (classes[cls].kind != ClassKind::External || classes[cls].name != host.name)
        continue;
      for (const Family family : kFamilies) {
        if (host.of(family))
          add({cls, host.name, host.interface, *host.of(family), false, {}});
      }
    }
  }
}

void Representatives::add_enforcers() {
  const auto& classes = site_.matrix.universe.classes;
  for (ClassId cls = 0; cls < classes.size(); ++cls) {
    if (classes[cls].kind != ClassKind::Enforcer)
      continue;
    const auto found = site_.inventory.enforcers.find(classes[cls].place);
    if (found == site_.inventory.enforcers.end())
      continue;
    const Enforcer& enforcer = found->second;
    // Of a pair the first member is active and holds the legs' addresses.
    const std::string host = enforcer.members.empty() ? enforcer.name : enforcer.members.front();
    const bool agentless = enforcer.manage != Manage::Bulkhead;
    for (const Leg& leg : enforcer.legs) {
      for (const Family family : kFamilies) {
        if (const auto address = leg_address(leg, family))
          add({cls, host, leg.interface, address->address, agentless, {}});
      }
    }
  }
}

void Representatives::order(std::uint64_t seed) {
  std::vector<std::uint64_t> places;
  places.reserve(ends_.size());
  for (const ProbeEnd& end : ends_)
    places.push_back(place_of(seed, end));
  const auto key = [&](EndId id) {
    const ProbeEnd& end = ends_[id];
    return std::tuple(preference(end), places[id], std::string_view(end.host),
                      std::string_view(end.nic), end.address);
  };
  for (Candidates& candidates : candidates_)
    std::sort(candidates.ends.begin(), candidates.ends.end(),
              [&](EndId a, EndId b) { return key(a) < key(b); });
}

void Representatives::explain_absences() {
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    const Class& cls = site_.matrix.universe.classes[i / 2];
    Candidates& candidates = candidates_[i];
    if (candidates.ends.empty())
      candidates.none_because = absence(cls);
    else if (ends_[candidates.ends.front()].agentless)
      candidates.none_because = "no agent runs in " + cls.name + ", and no host stands in for it";
  }
}

void Representatives::count_hosts() {
  for (ClassId cls = 0; cls < site_.matrix.universe.classes.size(); ++cls) {
    std::set<std::string_view> hosts;
    for (const Family family : kFamilies) {
      for (const EndId end : of(cls, family).ends)
        hosts.insert(ends_[end].host);
    }
    host_count_.push_back(hosts.size());
  }
}

std::vector<EndId> Representatives::targets(ClassId cls, Family family, EndId from,
                                            std::string& why) const {
  const Candidates& candidates = of(cls, family);
  const bool all = site_.matrix.universe.classes[cls].kind == ClassKind::Enforcer;
  std::vector<EndId> out;
  const auto take = [&](EndId end) {
    // On one host it would go over the loopback interface, past every firewall.
    if (ends_[end].host != ends_[from].host && (all || out.empty()))
      out.push_back(end);
  };
  // The best sends, the second receives: inside one class, too, both ends of a probe are then ends
  // of the class's allowed flows, which are its controls.
  const auto& ends = candidates.ends;
  const bool swaps = ends.size() > 1 && ends_[ends[0]].host != ends_[ends[1]].host &&
                     preference(ends_[ends[0]]) == preference(ends_[ends[1]]);
  if (swaps)
    take(ends[1]);
  for (std::size_t i = 0; i < ends.size() && (all || out.empty()); ++i) {
    if (!swaps || i != 1)
      take(ends[i]);
  }
  if (out.empty())
    why =
        ends.empty() ? candidates.none_because : "both ends are the same host, " + ends_[from].host;
  return out;
}

std::vector<EndId> Representatives::sources(ClassId cls, ClassId to, Family family,
                                            std::string& why) const {
  const Candidates& candidates = of(cls, family);
  const Class& from = site_.matrix.universe.classes[cls];
  std::vector<EndId> out;
  for (const EndId end : candidates.ends) {
    if (!ends_[end].agentless)
      out.push_back(end);
  }
  if (out.empty()) {
    why = candidates.none_because;
    return out;
  }
  if (from.kind != ClassKind::Enforcer)
    return out;
  // An enforcer sends from the address of the leg towards the destination, as its kernel would.
  std::string interface;
  for (const EnforcerView& view : site_.coverage.views) {
    for (const LegBinding& binding : view.bindings) {
      if (view.enforcer == from.place && binding.cls == to)
        interface = binding.interface;
    }
  }
  if (!interface.empty())
    std::erase_if(out, [&](EndId end) { return ends_[end].nic != interface; });
  else
    out.resize(1);  // no leg leads there, which is for the probe to show; any address will do
  if (out.empty())
    why = "the leg of " + from.place + " towards " + site_.matrix.universe.classes[to].name +
          " has no address in this family";
  return out;
}

}  // namespace bulkhead::compiler
