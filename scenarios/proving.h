// Proves rules against a site's policy: the rules that would be compiled, somebody's ruleset file,
// or what a host has loaded now. Brings together the kernel (which parses) and compiler/proof
// (which decides); nothing on the machine or on a host is changed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/proof/difference.h"
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
  std::size_t limit = 64;  // differences of a finding
  compiler::proof::Budget budget;
};

struct EnforcerProof {
  std::string enforcer;
  std::string rules;  // "compiled", "file x.nft", "live fw-a"
  struct Part {
    compiler::proof::Passage passage{};
    compiler::proof::Differences differences;
    long double unknown_share = 0;
  };
  std::vector<Part> parts;             // forward, input, output
  std::vector<std::string> ambiguous;  // base chains whose order, which decides, is not promised
  std::string not_proven;              // why there is no answer; empty: there is one
  // Only nft's listing was there, not the kernel's own rules: matches that nft 1.0.6 leaves out of
  // a listing (compiler/proof/rule_loads.h) cannot be seen to be missing.
  bool listing_alone = false;
  std::size_t rule_count = 0, element_count = 0;

  [[nodiscard]] bool holds() const;             // equal for all packets
  [[nodiscard]] bool is_open_question() const;  // no difference is known, but not all is decided
};

// One for each enforcer and member asked for. Errors: usage (no such enforcer), environment (rules
// that do not load, a host that does not answer). A listing that fails is never "no rules".
[[nodiscard]] Result<std::vector<EnforcerProof>> prove(const compiler::Site& site,
                                                       const ProvingOptions& options);

}  // namespace bulkhead::scenarios
