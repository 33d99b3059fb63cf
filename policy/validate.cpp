#include "policy/validate.h"

#include <algorithm>

#include <fmt/format.h>

#include "policy/support/text.h"
#include "policy/validate_parts.h"

namespace bulkhead::policy {

namespace {

bool is_expired(const Flow& flow, Date as_of) {
  return flow.expires && std::chrono::sys_days(*flow.expires) < std::chrono::sys_days(as_of);
}

// Flows in force; an expired one counts as absent, and is told.
std::vector<LiveFlow> live_flows(const Policy& policy, Selections& selections, Date as_of,
                                 Diagnostics& diagnostics) {
  std::vector<LiveFlow> flows;
  flows.reserve(policy.flows.size());
  for (const Flow& flow : policy.flows) {
    if (is_expired(flow, as_of)) {
      diagnostics.warning(
          "expired-flow", flow.expires_at,
          fmt::format("flow {} expired on {} and counts as absent on {}", in_backticks(flow.id),
                      format_date(*flow.expires), format_date(as_of)));
      continue;
    }
    flows.push_back({&flow, selections.of(flow.from), selections.of(flow.to),
                     traffic_of(flow.services, policy)});
  }
  return flows;
}

}  // namespace

void validate_names(Policy& policy, const InventoryNames& inventory, Diagnostics& diagnostics) {
  check_tenants(policy, diagnostics);
  check_segments(policy, inventory.enforcers, diagnostics);
  check_vrfs(policy, diagnostics);
  check_overlaps(policy, diagnostics);
  check_collisions(policy, diagnostics);
  check_groups(policy, diagnostics);
  check_ids(policy, diagnostics);
  resolve_selectors(policy, inventory, diagnostics);
  check_service_names(policy, diagnostics);
  check_authority(policy, diagnostics);
}

void validate_flows(const Policy& policy, const Universe& universe, Date as_of,
                    Diagnostics& diagnostics) {
  Selections selections(universe);
  check_class_names(universe, policy, diagnostics);
  check_selections(policy, universe, selections, diagnostics);
  const std::vector<LiveFlow> flows = live_flows(policy, selections, as_of, diagnostics);
  const FlowCheck check{policy, universe, flows, selections, diagnostics};
  check_consent(check);
  check_nevers(check);
  check_hidden(check);
  check_carriers(check);
  check_ib_direction(check);
  check_unused(check);
}

SourcePos named_at(const std::vector<Selector>& side, ClassId cls, const Flow& flow,
                   Selections& selections) {
  for (const Selector& selector : side) {
    const std::vector<ClassId>& selected = selections.of(selector);
    if (std::binary_search(selected.begin(), selected.end(), cls))
      return selector.at.line == 0 ? flow.at : selector.at;
  }
  return flow.at;
}

std::string and_pairs_more(std::size_t pairs) {
  if (pairs < 2)
    return {};
  return fmt::format(" (and {} pair{} more)", pairs - 1, pairs == 2 ? "" : "s");
}

std::vector<Traffic> traffic_of(const std::vector<Name>& services, const Policy& policy) {
  std::map<TrafficKey, PortSet> by_key;
  for (const Name& name : services) {
    const auto service = policy.services.find(name.text);
    if (service == policy.services.end())
      continue;
    if (services.size() == 1)
      return service->second.terms;
    for (const Traffic& term : service->second.terms)
      by_key[term.key] = by_key[term.key] | term.ports;
  }
  std::vector<Traffic> out;
  for (auto& [key, ports] : by_key)
    out.push_back({key, std::move(ports)});
  return out;
}

std::vector<Traffic> without(const std::vector<Traffic>& a, const std::vector<Traffic>& b) {
  std::vector<Traffic> out;
  for (const Traffic& term : a) {
    PortSet left = term.ports;
    for (const Traffic& other : b) {
      if (other.key == term.key)
        left = left - other.ports;
    }
    if (!left.empty())
      out.push_back({term.key, std::move(left)});
  }
  return out;
}

bool overlap(const std::vector<Traffic>& a, const std::vector<Traffic>& b) {
  return std::any_of(a.begin(), a.end(), [&](const Traffic& term) {
    return std::any_of(b.begin(), b.end(), [&](const Traffic& other) {
      return other.key == term.key && other.ports.overlaps(term.ports);
    });
  });
}

}  // namespace bulkhead::policy
