// All rules of the language that concern a policy by itself and against the class universe: unknown
// names, authority of includes, consent to cross-tenant flows, overlaps, collisions, reserved
// names, never.
#pragma once

#include "policy/class.h"
#include "policy/model.h"
#include "policy/support/diagnostic.h"

namespace bulkhead::policy {

// Before classes exist: names, prefixes, VRFs, services, selectors. Resolves Selector::What in
// place. `enforcers` are the inventory's names (gateways, isolated_by and enforcer: selectors refer
// to them).
void validate_names(Policy& policy, const std::vector<std::string>& enforcers,
                    Diagnostics& diagnostics);

// With classes: empty selections (warning), unknown labels, consent, `never` against allows, allows
// hidden by denies (warning), one-way ib flows, services that cannot run between two classes.
void validate_flows(const Policy& policy, const Universe& universe, Date as_of,
                    Diagnostics& diagnostics);

}  // namespace bulkhead::policy
