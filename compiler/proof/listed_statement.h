// Matches, verdict maps and assignments of a listed rule. Part of parse_ruleset.
#pragma once

#include <string>
#include <utility>

#include "compiler/proof/listed_sets.h"

namespace bulkhead::compiler::proof {

// A rule under construction.
struct RuleReader {
  RuleReader(TableFamily family, Index its_table, Names& its_names, Ruleset& its_ruleset)
      : implied(family), table(its_table), names(its_names), ruleset(its_ruleset) {}

  template <class T>
  void add(T statement_read) {
    rule.statements.emplace_back(std::move(statement_read));
  }
  // The statement under way cannot be said in types: it lets the rule go on or not; or it does
  // something that may change every later verdict.
  void condition(std::string reason);
  void effect(std::string reason);

  Implied implied;
  Index table;
  Names& names;
  Ruleset& ruleset;
  Rule rule;
  const Json* statement = nullptr;  // as listed, {"NAME": ...}
};

void read_match(const Json& json, RuleReader& rule);
void read_verdict_map(const Json& json, RuleReader& rule);
void read_mangle(const Json& json, RuleReader& rule);

// {"map": {"key": ..., "data": ...}} with values of these types.
[[nodiscard]] Readable<Lookup> read_lookup(const Json& json, std::vector<ValueType> data,
                                           RuleReader& rule);

}  // namespace bulkhead::compiler::proof
