// From our text into the kernel and back: is what the kernel lists what was proven of the text, and
// does it, with the rules of others beside it, do what the policy says?
#pragma once

#include <string>

#include "compiler/proof/enforcer_proof.h"

namespace bulkhead::compiler::proof {

struct RoundTrip {
  enum class Table { Same, Differs, NotLoaded };
  Table table = Table::NotLoaded;  // `inet bulkhead` of the listing against our text
  EnforcerProof proof;             // of all that is listed

  // A listing of other rules that do what the policy says is as good as one of ours.
  [[nodiscard]] bool holds() const { return table != Table::Differs && proof.holds(); }
  [[nodiscard]] bool is_open_question() const {
    return table != Table::Differs && proof.is_open_question();
  }
};

// `written` is the ruleset file compiled for `view`. An Environment error where the listing or the
// text cannot be read: nothing is known then.
[[nodiscard]] Result<RoundTrip> round_trip(const Site& site, const EnforcerView& view,
                                           const std::string& written, const Ruleset& listed,
                                           const ProofLimits& limits = {});

}  // namespace bulkhead::compiler::proof
