// Proves rules against a site's policy: the rules that would be compiled, somebody's ruleset file,
// or what a host has loaded now. Brings together the kernel (which parses) and compiler/proof
// (which decides); nothing on the machine or on a host is changed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/proof/enforcer_proof.h"
#include "compiler/site.h"
#include "policy/support/result.h"

namespace bulkhead::scenarios {

enum class RulesOf { Compiled, File, Live };

struct ProvingOptions {
  RulesOf rules = RulesOf::Compiled;
  std::string file;  // RulesOf::File: an nft file, or the output of `nft -j list ruleset`
  std::string
      enforcer;  // whose place the rules take; empty: each one (RulesOf::File: the only one)
  std::vector<std::string> ssh_command;  // RulesOf::Live; empty: the default
  bool sudo = false;
  compiler::proof::ProofLimits limits;
};

using compiler::proof::EnforcerProof;

// One for each enforcer and member asked for. Errors: usage (no such enforcer), environment (rules
// that do not load, a host that does not answer). A listing that fails is never "no rules".
[[nodiscard]] Result<std::vector<EnforcerProof>> prove(const compiler::Site& site,
                                                       const ProvingOptions& options);

}  // namespace bulkhead::scenarios
