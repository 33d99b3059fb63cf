// Conntrack zones, only where VRFs of one enforcer hold overlapping addresses: there equal tuples
// are different connections. Elsewhere a zone would lose the replies of every flow between two
// VRFs (docs/adr/0002-conntrack-zones.md).
#pragma once

#include <string>
#include <vector>

#include "compiler/ir.h"

namespace bulkhead::compiler::ir {

// `vrf_of` is by leg; sets Leg::zone from the addresses in Leg::sources. Numbers follow the VRFs'
// names.
void number_zones(const std::vector<std::string>& vrf_of, std::vector<Leg>& legs);

}  // namespace bulkhead::compiler::ir
