// What is wrong with a ruleset, without a policy to hold it against: rules that nothing reaches,
// rules without effect, hooks that let everything pass. One file a group of checks, one row a check
// in lint.cpp; docs/lint.md tells users of every code.
//
// "Never matches" is said of a rule only where it is so for every packet that the model knows of;
// what comes to a rule by way of something unknown counts as coming.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/proof/node_table.h"
#include "compiler/proof/ruleset.h"
#include "policy/support/diagnostic.h"

namespace bulkhead::compiler::lint {

struct Finding {
  std::string_view code;  // stable, kebab-case: "never-matches"
  Severity severity = Severity::Warning;
  std::string place;                  // "inet filter forward, rule 3 \"web\"", "set ip t blocked"
  proof::Index chain = proof::kNone;  // Ruleset::chains; none: of the ruleset, a hook, a set
  proof::Index rule = proof::kNone;   // in the chain
  std::uint32_t line = 0;             // of Options::text; 0: not known
  std::string what;                   // what is wrong
  std::string todo;                   // what to do about it
};

struct Options {
  // Interfaces that there are; none: nobody knows.
  std::optional<std::set<std::string>> interfaces;
  std::string text;   // the file in nft's language that it was loaded from; empty: none
  std::string whose;  // "legs of fw", "interfaces of this machine"
  // A policy says what is meant for each family, and a proof compares: one that has less is no sign.
  bool has_policy = false;
  proof::Budget budget;
  std::function<void(std::size_t done, std::size_t rules)> progress;
};

struct Answer {
  std::vector<Finding> findings;         // in order of the ruleset; those without a rule first
  std::vector<std::string> not_decided;  // checks that were too large, with the reason
  std::size_t rules = 0;
};

[[nodiscard]] Answer lint(const proof::Ruleset& ruleset, const Options& options = {});

}  // namespace bulkhead::compiler::lint
