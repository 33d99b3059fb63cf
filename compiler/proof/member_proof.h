// The second answer of an audit: what the rules that an enforcer has loaded in this very run do to
// all packets, beside what the probes saw. Only listed, never changed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/proof/round_trip.h"

namespace bulkhead::compiler::proof {

struct MemberProof {
  enum class State {
    Equal,       // to the policy for all packets, and our table is the one that was compiled
    Different,   // known packets are not treated as the policy says, or our table is another
    NotDecided,  // not listed, outside the model, too large: never a success
  };
  std::string enforcer;
  std::string member;
  State state = State::NotDecided;
  std::string reason;                    // in words, of every state
  std::vector<std::string> differences;  // "opens forward: red → blue: tcp 22; for example ..."
};

// `written` is the ruleset file compiled for `view`.
[[nodiscard]] MemberProof prove_member(const Site& site, const EnforcerView& view,
                                       std::string member, const std::string& written,
                                       const Result<Ruleset>& listed);

[[nodiscard]] std::string_view to_string(MemberProof::State state);  // "equal", ...

}  // namespace bulkhead::compiler::proof
