// Spelling for nft 1.0.6: indentation, names, ranges, comments. Knows the grammar's gaps and
// nothing of policies.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "policy/support/address.h"

namespace bulkhead::compiler {

// Lines of a ruleset file. A brace that closes stands alone: on the line of a statement nft 1.0.6
// wants a `;` before it.
class NftText {
 public:
  void line(std::string_view text);
  void open(std::string_view head);  // "chain x" -> "chain x {"
  void close();
  void remark(std::string_view text);  // a `#` line: for readers of the file, not loaded
  // elements = { a, b, ... }, one a line; nothing for none (nft refuses an empty list).
  void elements(const std::vector<std::string>& items);
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  std::string out_;
  std::size_t depth_ = 0;
};

// Identifiers of one kind (chains, maps): cleaned, prefixed, short enough, and different for
// different names even where cleaning makes them equal ("bond0.10" and "bond0_10").
class NftNames {
 public:
  [[nodiscard]] std::string unique(std::string_view prefix, std::string_view name);

 private:
  std::set<std::string> taken_;
};

// Rule ids as a comment, as compiler/rule_comment.h says; those that became a hash are listed with
// the ids they stand for.
class NftComments {
 public:
  // Quoted, ready for the text. Valid until the next call.
  [[nodiscard]] std::string_view of(const std::vector<std::string>& rules);
  [[nodiscard]] std::map<std::string, std::vector<std::string>> take_hashed() {
    return std::move(hashed_);
  }

 private:
  std::string buffer_;
  std::map<std::string, std::vector<std::string>> hashed_;
};

[[nodiscard]] std::string nft_range(const AddressRange& range);  // "10.1.0.0/24" where it is one
[[nodiscard]] std::string nft_range(const PortRange& range);     // "22", "6800-7300"
[[nodiscard]] inline std::string nft_quoted(std::string_view text) {
  return '"' + std::string(text) + '"';
}

}  // namespace bulkhead::compiler
