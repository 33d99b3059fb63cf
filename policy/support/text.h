// Small helpers for text that came from a user and goes into a message.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bulkhead {

// The text between backticks, fit for a message: control characters as '?', at most 64 bytes.
[[nodiscard]] std::string in_backticks(std::string_view text);

// Without blanks and tabs at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

// "F1,F2" at ',' -> F1 and F2; always one part at least.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);

// Byte offset of the first malformed UTF-8 sequence (RFC 3629), or npos.
[[nodiscard]] std::size_t first_bad_utf8(std::string_view text);

}  // namespace bulkhead
