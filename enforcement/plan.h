// What `bulkhead plan` found, and what `apply` of it holds the live state against: exactly the
// change that somebody has read, or nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/proof/ruleset_diff.h"
#include "enforcement/nft_target.h"
#include "policy/support/result.h"

namespace bulkhead::enforcement {

// Schema bulkhead.plan/1.
struct SavedPlan {
  std::string bundle;  // its folder
  std::string digest;  // of its manifest
  std::string host;
  std::string ours, foreign;  // Snapshot, when it was planned
};
[[nodiscard]] std::string to_json(const SavedPlan& plan);
[[nodiscard]] Result<SavedPlan> parse_plan(std::string_view json);

struct Planned {
  Snapshot live;
  bool is_loaded = false;              // the very text is there already
  compiler::proof::RulesetDiff rules;  // what the change opens and closes
  std::string text_diff;               // unified; empty where the texts are one
  std::vector<Connection> cut;         // connections that would end
  std::vector<std::string> lockouts;
};

// Reads only. `last` is what is in force by the journal, with its text; may be null.
[[nodiscard]] Result<Planned> plan(Backend& backend, const Target& target, const Target* last,
                                   const Generation* last_generation);

// "diff -u"; empty where they are equal.
[[nodiscard]] Result<std::string> text_diff(const std::string& before_name,
                                            const std::string& before,
                                            const std::string& after_name,
                                            const std::string& after);

}  // namespace bulkhead::enforcement
