#include <fmt/format.h>

#include <algorithm>

#include "compiler/inventory.h"
#include "compiler/inventory_checks.h"

namespace bulkhead::compiler {
namespace {

bool is_in_the_site(const policy::Policy& policy, const Address& address) {
  const auto holds = [&](const std::vector<Prefix>& prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(),
                       [&](const Prefix& prefix) { return prefix.contains(address); });
  };
  for (const auto& [name, segment] : policy.segments)
    if (holds(segment.prefixes))
      return true;
  for (const auto& [name, external] : policy.externals)
    if (holds(external.prefixes) ||
        (address.family == Family::V4 ? external.rest_v4 : external.rest_v6))
      return true;
  return false;
}

void check_probe(const InventoryCheck& check) {
  const ProbeSettings& probe = check.inventory.probe;
  for (std::size_t i = 0; i < probe.never.size(); ++i)
    if (!is_in_the_site(check.policy, probe.never[i]))
      check.diagnostics.warning(
          "never-unknown", probe.never_at[i],
          fmt::format("{} lies in no segment and no external", probe.never[i].str()),
          "a typing mistake here lets probes go where they must not");
}

}  // namespace

bool has_unread_prefix(const InventoryCheck& check, const policy::Segment& segment, Family family) {
  if (std::any_of(segment.prefixes.begin(), segment.prefixes.end(),
                  [&](const Prefix& prefix) { return prefix.family() == family; }))
    return false;
  const auto& found = check.diagnostics.all();
  return std::any_of(found.begin(), found.end(), [](const Diagnostic& item) {
    return item.code == "bad-prefix" || item.code == "wrong-family";
  });
}

void validate_inventory(const Inventory& inventory, const policy::Policy& policy,
                        Diagnostics& diagnostics) {
  const InventoryCheck check{inventory, policy, diagnostics};
  check_hosts(check);
  check_addresses(check);
  check_enforcers(check);
  check_segments(check);
  check_rdma(check);
  check_probe(check);
}

}  // namespace bulkhead::compiler
