// Facts of a machine that change what its rules mean, though no rule changes: the kernel's switches
// and the interfaces that the rules name. Read back, never set: on a real machine they have other
// owners.
#pragma once

#include <string>
#include <vector>

#include "compiler/site.h"

namespace bulkhead::enforcement {

struct EnvironmentFact {
  std::string what;    // "net.ipv4.ip_forward", "interface bond0.101"
  std::string is;      // "0", "gone"
  std::string should;  // "1", "there"
  std::string why;     // what it does to the policy
};
// "net.ipv4.ip_forward is 0, should be 1: nothing is routed"
[[nodiscard]] std::string to_string(const EnvironmentFact& fact);

// Those of the calling thread's network namespace that are not as they should be. What the kernel
// does not have cannot be wrong.
[[nodiscard]] std::vector<EnvironmentFact> environment(const compiler::Site& site,
                                                       const compiler::EnforcerView& view);

}  // namespace bulkhead::enforcement
