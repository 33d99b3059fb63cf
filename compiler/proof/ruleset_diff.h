// Two rulesets of one place, before and after: the packets that one lets pass and the other does
// not. Nothing is asked of a policy here; a site only gives names.
#pragma once

#include <string>
#include <vector>

#include "compiler/proof/difference.h"

namespace bulkhead::compiler::proof {

enum class ChangeKind : std::uint8_t {
  Opens,
  MayOpen,  // passes or not by more than the packet (a limit, a queue); stopped before
  Closes,
  MayClose,
  Redirects,  // passes on both sides, translated to another source or destination
  Unknown,    // a rule outside the model decides on a side, and not the same one on both
};
[[nodiscard]] std::string_view to_string(ChangeKind kind);  // "opens", "may open", ...

struct RulesetChange {
  ChangeKind kind = ChangeKind::Opens;
  Finding what;  // its causes and rules are those of `after`
  // The way of each difference's example through `before`.
  std::vector<std::vector<std::string>> rules_before;
};

struct PassageDiff {
  Passage passage = Passage::Forward;
  std::vector<RulesetChange> changes;  // in order of Differences::findings
};

struct RulesetDiff {
  std::vector<PassageDiff> passages;  // forward, input, output
  std::vector<std::string> doubts;    // what the comparison does not follow (doubts.h), orders of
                                      // base chains that decide and are not promised
  std::string not_decided;            // why there is no answer; empty: there is one
  [[nodiscard]] bool is_equal() const;
};

// At most `limit` differences in a finding. Never throws for want of budget: not_decided.
[[nodiscard]] RulesetDiff diff(const Ruleset& before, const Ruleset& after, const Naming& naming,
                               std::size_t limit, const Budget& budget = {});

}  // namespace bulkhead::compiler::proof
