#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/inventory_checks.h"
#include "policy/support/text.h"

namespace bulkhead::compiler {
namespace {

template <class T>
bool check_known(const Name& name, const std::map<std::string, T>& known, std::string_view what,
                 Diagnostics& diagnostics) {
  if (known.contains(name.text))
    return true;
  std::vector<std::string_view> names;
  for (const auto& [text, unused] : known)
    names.push_back(text);
  diagnostics.error("unknown-name", name.at,
                    fmt::format("no {} is called {}", what, in_backticks(name.text)),
                    did_you_mean(name.text, names));
  return false;
}

void check_leg_address(const InventoryCheck& check, const Enforcer& enforcer, const Leg& leg,
                       const policy::Segment& segment, const InterfaceAddress& own) {
  const bool fits = std::any_of(segment.prefixes.begin(), segment.prefixes.end(),
                                [&](const Prefix& prefix) { return prefix == own.prefix(); });
  if (fits || has_unread_prefix(check, segment, own.address.family))
    return;
  check.diagnostics
      .error("leg-address", leg.at,
             fmt::format("{} of leg {} of {} is not an address with a prefix of segment {}",
                         own.str(), leg.interface, enforcer.name, segment.name))
      .related.push_back({segment.at, fmt::format("segment {} is here", segment.name)});
}

// The network itself and its broadcast are nobody's address. RFC 3021: a /31 has neither.
void check_leg_is_a_host(const InventoryCheck& check, const Enforcer& enforcer, const Leg& leg) {
  if (!leg.v4 || leg.v4->length >= 31)
    return;
  const Prefix net = leg.v4->prefix();
  if (leg.v4->address != net.base && leg.v4->address != net.last())
    return;
  check.diagnostics.error("leg-address", leg.at,
                          fmt::format("{} of leg {} of {} is the {} address of its network",
                                      leg.v4->address.str(), leg.interface, enforcer.name,
                                      leg.v4->address == net.base ? "network" : "broadcast"));
}

void check_vrf_of_leg(const InventoryCheck& check, const Leg& leg, const policy::Segment& segment) {
  if (segment.vrf && segment.vrf->text == leg.vrf->text)
    return;
  check.diagnostics
      .error(
          "leg-vrf", leg.vrf->at,
          fmt::format("leg {} is in VRF {}, its segment {} is in {}", leg.interface, leg.vrf->text,
                      segment.name, segment.vrf ? segment.vrf->text : "the main table"))
      .related.push_back({segment.at, fmt::format("segment {} is here", segment.name)});
}

void check_behind_of_leg(const InventoryCheck& check, const Leg& leg) {
  for (const Name& glob : leg.behind) {
    const bool is_glob = glob.text.find('*') != std::string::npos;
    if (!is_glob) {
      if (check_known(glob, check.policy.segments, "segment", check.diagnostics) && leg.vrf)
        check_vrf_of_leg(check, leg, check.policy.segments.at(glob.text));
      continue;
    }
    const bool any =
        std::any_of(check.policy.segments.begin(), check.policy.segments.end(),
                    [&](const auto& segment) { return matches_glob(glob.text, segment.first); });
    if (!any)
      check.diagnostics.warning("binds-nothing", glob.at,
                                fmt::format("no segment is behind leg {}: {} matches none",
                                            leg.interface, in_backticks(glob.text)));
  }
}

void check_leg(const InventoryCheck& check, const Enforcer& enforcer, const Leg& leg) {
  const policy::Policy& policy = check.policy;
  if (leg.vrf)
    check_known(*leg.vrf, policy.vrfs, "VRF", check.diagnostics);
  if (leg.external)
    check_known(*leg.external, policy.externals, "external", check.diagnostics);
  check_behind_of_leg(check, leg);
  check_leg_is_a_host(check, enforcer, leg);
  if (!leg.segment || !check_known(*leg.segment, policy.segments, "segment", check.diagnostics))
    return;
  const policy::Segment& segment = policy.segments.at(leg.segment->text);
  if (leg.vrf)
    check_vrf_of_leg(check, leg, segment);
  for (const auto& own : {leg.v4, leg.v6})
    if (own)
      check_leg_address(check, enforcer, leg, segment, *own);
}

// A class enters and leaves an enforcer by one leg only; two would make its source binding a guess.
void check_legs_differ(const InventoryCheck& check, const Enforcer& enforcer) {
  std::map<std::string, const Leg*> sides;
  for (const Leg& leg : enforcer.legs) {
    if (!leg.segment && !leg.external)
      continue;
    const std::string side =
        leg.segment ? "segment " + leg.segment->text : "external " + leg.external->text;
    const auto [entry, is_new] = sides.try_emplace(side, &leg);
    if (!is_new)
      check.diagnostics
          .error("two-legs", leg.at,
                 fmt::format("{} has two legs to {}: {} and {}", enforcer.name, side,
                             entry->second->interface, leg.interface),
                 "one leg per segment and external; bundle the links (bond) or split the segment")
          .related.push_back({entry->second->at, "the other leg"});
  }
}

void check_globs_differ(const InventoryCheck& check, const Enforcer& enforcer) {
  for (const auto& [name, segment] : check.policy.segments) {
    std::vector<const Leg*> legs;
    for (const Leg& leg : enforcer.legs) {
      if (leg.segment && leg.segment->text == name) {
        legs.clear();  // a direct leg beats all globs
        break;
      }
      const bool same_vrf = !leg.vrf || (segment.vrf && segment.vrf->text == leg.vrf->text);
      const bool matches = std::any_of(leg.behind.begin(), leg.behind.end(), [&](const Name& glob) {
        return matches_glob(glob.text, segment.name);
      });
      if (same_vrf && matches && segment.gateway)
        legs.push_back(&leg);
    }
    if (legs.size() > 1)
      check.diagnostics
          .error("two-legs", legs[1]->at,
                 fmt::format("segment {} is behind two legs of {}: {} and {}", name, enforcer.name,
                             legs[0]->interface, legs[1]->interface))
          .related.push_back({legs[0]->at, "the other leg"});
  }
}

void check_kind(const InventoryCheck& check, const Enforcer& enforcer) {
  const bool ours = enforcer.manage == Manage::Bulkhead;
  if (ours && enforcer.kind != EnforcerKind::Router && enforcer.kind != EnforcerKind::Ib)
    check.diagnostics.error(
        "cannot-manage", enforcer.at,
        fmt::format("{} is a {}: bulkhead compiles for routers and InfiniBand fabrics",
                    enforcer.name, enforcer.kind == EnforcerKind::Switch ? "switch" : "bridge"),
        "manage = \"declared\", with what it `separates`");
  if (enforcer.kind == EnforcerKind::Ib && enforcer.manager.empty())
    check.diagnostics.error("missing-key", enforcer.at,
                            fmt::format("enforcer {} needs `manager`", enforcer.name),
                            "manager = \"opensm\" or \"ufm\"");
  if (enforcer.kind != EnforcerKind::Ib && !enforcer.manager.empty())
    check.diagnostics.error(
        "bad-value", enforcer.at,
        fmt::format("enforcer {} has a `manager` but is no InfiniBand fabric", enforcer.name));
  const bool has_address = std::any_of(enforcer.legs.begin(), enforcer.legs.end(),
                                       [](const Leg& leg) { return leg.v4 || leg.v6; });
  if (ours && enforcer.kind == EnforcerKind::Router && !has_address)
    check.diagnostics.error("enforcer-without-address", enforcer.at,
                            fmt::format("no leg of router {} has an address", enforcer.name));
}

}  // namespace

// Greedy with one way back (the last star), so that no pattern is slow.
bool matches_glob(std::string_view glob, std::string_view name) {
  std::size_t g = 0, n = 0, star = std::string_view::npos, retry = 0;
  while (n < name.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      retry = n;
    } else if (g < glob.size() && glob[g] == name[n]) {
      ++g;
      ++n;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      n = ++retry;
    } else {
      return false;
    }
  }
  return glob.find_first_not_of('*', g) == std::string_view::npos;
}

void check_enforcers(const InventoryCheck& check) {
  std::map<std::string, const Enforcer*> members;
  for (const auto& [name, enforcer] : check.inventory.enforcers) {
    check_kind(check, enforcer);
    for (const Leg& leg : enforcer.legs)
      check_leg(check, enforcer, leg);
    check_legs_differ(check, enforcer);
    check_ssh(check, enforcer.ssh, enforcer.at);
    check_globs_differ(check, enforcer);
    for (const std::string& member : enforcer.members) {
      const auto [entry, is_new] = members.try_emplace(member, &enforcer);
      if (!is_new)
        check.diagnostics
            .error("name-collision", enforcer.at,
                   fmt::format("{} is a member of two enforcers", in_backticks(member)))
            .related.push_back({entry->second->at, "the other is here"});
      const auto host = check.inventory.hosts.find(member);
      if (host != check.inventory.hosts.end())
        check.diagnostics
            .error(
                "name-collision", host->second.at,
                fmt::format("{} is a host and a member of enforcer {}", in_backticks(member), name))
            .related.push_back({enforcer.at, "the enforcer is here"});
    }
  }
}

}  // namespace bulkhead::compiler
