// Rules in nft's own words, for reports: a number of a rule says little to who wrote it.
#pragma once

#include <string_view>

#include "compiler/proof/ruleset.h"

namespace bulkhead::compiler::proof {

// `listing` is of the same ruleset, as of `nft -a list ruleset`. A rule that is not found in it
// keeps no text.
void add_rule_texts(Ruleset& ruleset, std::string_view listing);

}  // namespace bulkhead::compiler::proof
