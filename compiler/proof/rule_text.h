// Rules in nft's words again, as people know them: "tcp dport { 22, 80 } accept". Made from the
// types, so that it also says what a listing of JSON has no text for. Close to what `nft list`
// writes; not to be read back.
#pragma once

#include <string>

#include "compiler/proof/ruleset.h"

namespace bulkhead::compiler::proof {

// Sets of many elements and long values are cut ("{ 22, 80, ... 40 more }").
[[nodiscard]] std::string rule_text(const Ruleset& ruleset, const Rule& rule);
[[nodiscard]] std::string verdict_text(const Ruleset& ruleset, const Verdict& verdict);
// "inet filter forward, rule 3"; with the comment, where there is one.
[[nodiscard]] std::string rule_name(const Ruleset& ruleset, Index chain, Index rule);

}  // namespace bulkhead::compiler::proof
