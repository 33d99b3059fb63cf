// The parts of validate_names() and validate_flows(), one for each rule of the language or a few of
// one kind. Each reports everything that it finds; none stops the next.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/class.h"
#include "policy/model.h"
#include "policy/selections.h"
#include "policy/support/diagnostic.h"
#include "policy/validate.h"

namespace bulkhead::policy {

// --- before classes exist (validate_names)

void check_tenants(const Policy& policy, Diagnostics& diagnostics);
void check_segments(const Policy& policy, const std::vector<std::string>& enforcers,
                    Diagnostics& diagnostics);
void check_vrfs(const Policy& policy, Diagnostics& diagnostics);
void check_overlaps(const Policy& policy, Diagnostics& diagnostics);
// Names that differ as written and are one after cleaning (identifier.h); equal partition keys.
void check_collisions(const Policy& policy, Diagnostics& diagnostics);
void check_groups(const Policy& policy, Diagnostics& diagnostics);
void check_ids(const Policy& policy, Diagnostics& diagnostics);
// Sets Selector::what of plain names; unknown names of any kind.
void resolve_selectors(Policy& policy, const InventoryNames& inventory, Diagnostics& diagnostics);
void check_service_names(const Policy& policy, Diagnostics& diagnostics);
// A tenant's file speaks about its own: one side of every flow and offer is wholly the tenant's.
void check_authority(const Policy& policy, Diagnostics& diagnostics);

// --- with classes (validate_flows)

// A flow that is in force, with its names resolved.
struct LiveFlow {
  const Flow* flow = nullptr;
  std::vector<ClassId> from, to;
  std::vector<Traffic> traffic;  // of all its services, one term per key
};

struct FlowCheck {
  const Policy& policy;
  const Universe& universe;
  const std::vector<LiveFlow>& flows;  // in order of the policy
  Selections& selections;
  Diagnostics& diagnostics;
};

void check_class_names(const Universe& universe, const Policy& policy, Diagnostics& diagnostics);
void check_selections(const Policy& policy, const Universe& universe, Selections& selections,
                      Diagnostics& diagnostics);
void check_consent(const FlowCheck& check);
void check_nevers(const FlowCheck& check);
void check_hidden(const FlowCheck& check);
// Services that cannot run between two classes, and flows of one family.
void check_carriers(const FlowCheck& check);
void check_ib_direction(const FlowCheck& check);
// Tenants and services that nothing names, flows that repeat another; check_consent tells of
// offers.
void check_unused(const FlowCheck& check);

// --- shared

// Where a flow names this class on this side: the selector that takes it, else the flow.
[[nodiscard]] SourcePos named_at(const std::vector<Selector>& side, ClassId cls, const Flow& flow,
                                 Selections& selections);
// ", and 3 pairs more"; nothing of one pair.
[[nodiscard]] std::string and_pairs_more(std::size_t pairs);

// Adds the terms of the named services, one term per key, sorted; unknown names add nothing.
[[nodiscard]] std::vector<Traffic> traffic_of(const std::vector<Name>& services,
                                              const Policy& policy);
// What of `a` is not in `b`; both one term per key, sorted.
[[nodiscard]] std::vector<Traffic> without(const std::vector<Traffic>& a,
                                           const std::vector<Traffic>& b);
[[nodiscard]] bool overlap(const std::vector<Traffic>& a, const std::vector<Traffic>& b);

// Names of a map, for "did you mean".
template <class T>
[[nodiscard]] std::vector<std::string_view> names_of(const std::map<std::string, T>& map) {
  std::vector<std::string_view> names;
  for (const auto& [name, value] : map)
    names.push_back(name);
  return names;
}

}  // namespace bulkhead::policy
