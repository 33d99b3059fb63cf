// The whole question about one enforcer, answered: do these rules do what the policy says, in
// forward, input and output? Pure; where the rules come from is the caller's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/proof/difference.h"
#include "compiler/site.h"

namespace bulkhead::compiler::proof {

// Of what decides, for whoever keeps an answer: it changes where an answer could.
inline constexpr std::string_view kEngine = "packet diagrams 1";

struct ProofLimits {
  std::size_t differences = 64;  // of a finding
  Budget budget;
};

struct EnforcerProof {
  std::string enforcer;
  std::string rules;  // "compiled", "file x.nft", "live fw-a"
  struct Part {
    Passage passage{};
    Differences differences;
    long double unknown_share = 0;
    long double translated_share = 0;  // of later packets of translated connections: set aside
  };
  std::vector<Part> parts;          // forward, input, output
  std::vector<std::string> doubts;  // what the comparison does not follow (doubts.h), orders of
                                    // base chains that decide and are not promised
  std::string not_proven;           // why there is no answer; empty: there is one
  // Only nft's listing was there, not the kernel's own rules: matches that nft 1.0.6 leaves out of
  // a listing (rule_loads.h) cannot be seen to be missing.
  bool listing_alone = false;
  std::size_t rule_count = 0, element_count = 0;

  [[nodiscard]] bool holds() const;             // equal for all packets
  [[nodiscard]] bool is_open_question() const;  // no difference is known, but not all is decided
};

// `view` is one of site.coverage.views. Fills `parts`, `doubts`, `not_proven` and the counts;
// never throws for want of budget.
[[nodiscard]] EnforcerProof prove_enforcer(const Site& site, const EnforcerView& view,
                                           const Ruleset& ruleset, const ProofLimits& limits = {});

}  // namespace bulkhead::compiler::proof
