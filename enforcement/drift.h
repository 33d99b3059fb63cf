// What is loaded now against what should be: rules for all packets, whoever owns the table that
// decides, and the facts of the machine. Only read.
#pragma once

#include <string>
#include <vector>

#include "enforcement/environment.h"
#include "enforcement/nft_target.h"
#include "policy/date.h"
#include "policy/support/result.h"

namespace bulkhead::enforcement {

struct Drift {
  std::vector<std::string> rules;  // what opens and closes, with the packet and the rule
  std::vector<EnvironmentFact> environment;
  std::vector<std::string> expired;  // flows that are open past their last day
  std::string not_decided;           // why there is no answer about the rules
  [[nodiscard]] bool is_none() const {
    return rules.empty() && environment.empty() && expired.empty() && not_decided.empty();
  }
};

[[nodiscard]] Result<Drift> drift(Backend& backend, const Target& target, policy::Date today);

}  // namespace bulkhead::enforcement
