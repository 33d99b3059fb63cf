// The ids that decide, as the one comment that a rule or an element can carry. The compiler writes
// it, the kernel's trace gives it back, and the judge recognises it: all by the same function.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bulkhead::compiler {

// nft takes 128 bytes and no quotes.
inline constexpr std::size_t kRuleCommentLimit = 128;

// "F1 F7", in the order given. What does not fit, or has characters that nft would trip over,
// becomes "h:<16 hex digits>", which the manifest's hashed_rules explains.
[[nodiscard]] std::string rule_comment(const std::vector<std::string>& rules);
[[nodiscard]] inline bool is_hashed(std::string_view comment) {
  return comment.starts_with("h:");
}

}  // namespace bulkhead::compiler
