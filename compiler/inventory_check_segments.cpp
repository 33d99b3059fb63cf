#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/inventory_checks.h"
#include "compiler/placement.h"
#include "policy/support/text.h"

namespace bulkhead::compiler {
namespace {

using policy::Segment;

const Leg* leg_to(const Enforcer& enforcer, const std::string& segment) {
  for (const Leg& leg : enforcer.legs)
    if (leg.segment && leg.segment->text == segment)
      return &leg;
  return nullptr;
}

// None at all, or one to a segment that nobody knows: which may be the one that is looked for.
bool has_unread_legs(const InventoryCheck& check, const Enforcer& enforcer) {
  return enforcer.legs.empty() ||
         std::any_of(enforcer.legs.begin(), enforcer.legs.end(), [&](const Leg& leg) {
           return leg.segment && !check.policy.segments.contains(leg.segment->text);
         });
}

void check_gateway(const InventoryCheck& check, const Segment& segment) {
  if (!segment.gateway)
    return;
  const auto found = check.inventory.enforcers.find(segment.gateway->text);
  if (found == check.inventory.enforcers.end())
    return;  // validate_names reports it
  const Enforcer& gateway = found->second;
  if (gateway.kind == EnforcerKind::Ib || gateway.kind == EnforcerKind::Bridge) {
    check.diagnostics.error("bad-gateway", segment.gateway->at,
                            fmt::format("{} does not route and cannot be the gateway of {}",
                                        gateway.name, segment.name));
    return;
  }
  if (gateway.manage != Manage::Bulkhead)
    return;  // a switch's own interfaces need not be listed
  const Leg* leg = leg_to(gateway, segment.name);
  if (!leg && has_unread_legs(check, gateway))
    return;  // the mistake has been told
  if (!leg) {
    check.diagnostics
        .error(
            "gateway-without-leg", segment.gateway->at,
            fmt::format("{} is the gateway of {} but has no leg in it", gateway.name, segment.name),
            "add the leg in inventory.toml")
        .related.push_back({gateway.at, fmt::format("{} is here", gateway.name)});
    return;
  }
  for (const Family family : kFamilies) {
    const bool in_segment =
        std::any_of(segment.prefixes.begin(), segment.prefixes.end(),
                    [&](const Prefix& prefix) { return prefix.family() == family; });
    if (in_segment && !(family == Family::V4 ? leg->v4 : leg->v6))
      check.diagnostics
          .error("gateway-without-address", leg->at,
                 fmt::format("leg {} has no {} address, segment {} has {} prefixes", leg->interface,
                             to_string(family), segment.name, to_string(family)))
          .related.push_back({segment.at, fmt::format("segment {} is here", segment.name)});
  }
}

void check_behind(const InventoryCheck& check, const Segment& segment) {
  if (!segment.behind)
    return;
  const std::string& text = segment.behind->text;
  const std::size_t dot = text.rfind('.');
  if (dot != std::string::npos && !check.policy.segments.contains(text.substr(0, dot))) {
    std::vector<std::string_view> known;
    for (const auto& [name, unused] : check.policy.segments)
      known.push_back(name);
    check.diagnostics.error(
        "unknown-name", segment.behind->at,
        fmt::format("no segment is called {}", in_backticks(text.substr(0, dot))),
        did_you_mean(text.substr(0, dot), known));
    return;
  }
  const std::vector<BehindHost> hosts = behind_hosts(segment, check.policy, check.inventory);
  if (hosts.empty()) {
    std::vector<std::string_view> known;
    for (const auto& [name, host] : check.inventory.hosts) {
      known.push_back(name);
      known.insert(known.end(), host.labels.begin(), host.labels.end());
    }
    check.diagnostics.warning(
        "binds-nothing", segment.behind->at,
        fmt::format("no host is or carries {}: nothing leads to segment {}", in_backticks(text),
                    segment.name),
        did_you_mean(text.substr(dot == std::string::npos ? 0 : dot + 1), known));
    return;
  }
  std::set<std::string> places;
  for (const BehindHost& behind : hosts) {
    places.insert(behind.nic->segment.text);
    if (behind.host->forwards == false)
      check.diagnostics
          .error("behind-without-forwarding", behind.host->at,
                 fmt::format("segment {} is behind host {}, which says `forwards = false`",
                             segment.name, behind.host->name))
          .related.push_back({segment.behind->at, "the segment is here"});
  }
  if (places.size() > 1)
    check.diagnostics.error("behind-several-segments", segment.behind->at,
                            fmt::format("segment {} is behind hosts of segments {}", segment.name,
                                        fmt::join(places, ", ")),
                            "name one: behind = \"SEGMENT.LABEL\"");
}

}  // namespace

void check_segments(const InventoryCheck& check) {
  for (const auto& [name, segment] : check.policy.segments) {
    check_gateway(check, segment);
    check_behind(check, segment);
  }
}

}  // namespace bulkhead::compiler
