#include "compiler/rule_comment.h"

#include <algorithm>

#include "policy/support/sha256.h"

namespace bulkhead::compiler {
namespace {

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view(" ._:+@/-").find(c) != std::string_view::npos;
  });
}

}  // namespace

std::string rule_comment(const std::vector<std::string>& rules) {
  std::string ids;
  for (const auto& rule : rules) {
    if (!ids.empty())
      ids += ' ';
    ids += rule;
  }
  if (ids.size() > kRuleCommentLimit || !is_plain(ids) || is_hashed(ids))
    return "h:" + sha256_hex(ids).substr(0, 16);
  return ids;
}

}  // namespace bulkhead::compiler
