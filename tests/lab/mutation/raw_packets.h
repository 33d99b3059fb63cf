// An oracle that shares no code with the probes: puts each packet of a plan on the wire by raw
// sockets and looks, by raw sockets, which of them came through to the destination's own stack.
#pragma once

#include <vector>

#include "compiler/probe_plan.h"
#include "scenarios/lab.h"

namespace bulkhead::testing {

// For each probe of the plan (at most 40,000): did its packet arrive?
[[nodiscard]] std::vector<bool> packets_that_arrive(const scenarios::Lab& lab,
                                                    const compiler::ProbePlan& plan);

}  // namespace bulkhead::testing
