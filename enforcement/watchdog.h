// A process beside the one that applies. It brings back the earlier state when that one dies before
// its generation is confirmed, by kill -9 too, or when the time to confirm it is over.
#pragma once

#include <string>
#include <vector>

#include "enforcement/backend.h"
#include "enforcement/journal.h"
#include "policy/support/result.h"

namespace bulkhead::enforcement {

// Starts `program` with its arguments, in this network namespace, detached from terminal and
// session; where systemd runs as a unit of its own, which outlives the login and its cgroup.
// Returns when it watches. Environment error where it does not come up.
[[nodiscard]] Status start_watchdog(const Journal& journal, const Generation& generation,
                                    const std::vector<std::string>& program);

// The process itself: ends when the generation is final. Ignores signals that end sessions.
[[nodiscard]] Status watch(Backend& backend, Journal& journal, std::uint64_t number);

}  // namespace bulkhead::enforcement
