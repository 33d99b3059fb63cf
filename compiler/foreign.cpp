#include "compiler/foreign.h"

#include <algorithm>
#include <string_view>

namespace bulkhead::compiler {
namespace {

// Words as nft 1.0.6's scanner has them.
bool begins_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
}
bool is_of_word(char c) {
  return begins_word(c) || (c >= '0' && c <= '9') || c == '-' || c == '/';
}

// Past the word, string or comment that begins here, or past one character. A string does not end
// with its line.
std::size_t after(std::string_view text, std::size_t at) {
  if (text[at] == '"')
    return std::min(text.find('"', at + 1), text.size() - 1) + 1;
  if (text[at] == '#')
    return std::min(text.find('\n', at), text.size());
  std::size_t end = at + 1;
  while (begins_word(text[at]) && end < text.size() && is_of_word(text[end]))
    ++end;
  return end;
}

}  // namespace

void check_foreign(std::uint32_t file, const SourceMap& sources, Diagnostics& diagnostics) {
  const std::string_view text = sources.file(file).text;
  SourcePos here{file, 1, 1};
  std::size_t next = 0;
  for (std::size_t at = 0; at < text.size(); at = next) {
    next = after(text, at);
    const std::string_view token = text.substr(at, next - at);
    if (token == "include")
      diagnostics.error("foreign-include", here,
                        "a foreign ruleset may not include: it would read files beside the site's",
                        "put what it includes into this file, or name that file in `foreign` too");
    for (const char c : token) {
      here.column = c == '\n' ? 1 : here.column + 1;
      here.line += c == '\n' ? 1 : 0;
    }
  }
}

}  // namespace bulkhead::compiler
