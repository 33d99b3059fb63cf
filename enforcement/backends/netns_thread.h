// Runs one function inside a network namespace. A namespace belongs to a thread, not to a process:
// a thread of its own enters it and ends with the function, so the caller's namespace never
// changes. A child that the function starts inherits the namespace.
#pragma once

#include <functional>
#include <string>

#include "policy/support/result.h"

namespace bulkhead::enforcement {

// An empty path is the caller's own namespace: still run on a thread. The function must not throw.
// Environment error when the namespace cannot be entered; then the function did not run.
[[nodiscard]] Status run_in_netns(const std::string& netns_path,
                                  const std::function<Status()>& function);

}  // namespace bulkhead::enforcement
