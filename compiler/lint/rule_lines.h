// On which line of a file each rule stands. The kernel lists rules without places; but a file that
// says its chains in blocks has the same rules in the same order.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bulkhead::compiler::lint {

// By chain ("inet filter forward"), in order. Blocks only: rules of `add rule`, of includes and in
// loops are not found, so a caller holds their number against the ruleset's.
using RuleLines = std::map<std::string, std::vector<std::uint32_t>>;
[[nodiscard]] RuleLines rule_lines(std::string_view nft_text);

}  // namespace bulkhead::compiler::lint
