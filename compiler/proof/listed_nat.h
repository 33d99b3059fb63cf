// dnat, snat, masquerade and redirect of a listed rule. Part of parse_ruleset.
#pragma once

#include "compiler/proof/listed_statement.h"

namespace bulkhead::compiler::proof {

void read_nat(NatKind kind, const Json& json, RuleReader& rule);

template <NatKind kind>
void read_nat(const Json& json, RuleReader& rule) {
  read_nat(kind, json, rule);
}

}  // namespace bulkhead::compiler::proof
