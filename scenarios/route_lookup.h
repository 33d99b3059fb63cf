// Reads back whether an enforcer's own routing table has a way for a probe: the planned cause of a
// cell that no route, rather than no rule, keeps apart.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/probe_plan.h"
#include "enforcement/backends/process.h"

namespace bulkhead::scenarios {

// Runs a program on an enforcer's member: in its namespace, or over ssh.
using RunOnMember = std::function<Result<enforcement::Finished>(
    const std::string& member, const std::vector<std::string>& command)>;

// True only where the kernel of the active member answered that there is no route. What could not
// be asked is false: unknown is not absent. `site` must outlive the result.
[[nodiscard]] std::function<bool(const compiler::Probe&)> route_lookup(const compiler::Site& site,
                                                                       RunOnMember run);

}  // namespace bulkhead::scenarios
