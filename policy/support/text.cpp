#include "policy/support/text.h"

#include <cstdint>

namespace bulkhead {

namespace {

constexpr std::size_t kLongestQuote = 64;

bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

// Length of the well-formed sequence of two to four bytes at the start of `text`, or 0 (RFC 3629
// section 4).
std::size_t utf8_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length)
    return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!continues(text[i]))
      return 0;
  }
  const auto second = static_cast<unsigned char>(text[1]);
  const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool surrogate = lead == 0xed && second >= 0xa0;
  const bool beyond = lead == 0xf4 && second >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

}  // namespace

std::string in_backticks(std::string_view text) {
  const bool cut = text.size() > kLongestQuote;
  if (cut) {
    text = text.substr(0, kLongestQuote);
    while (!text.empty() && continues(text.back()))
      text.remove_suffix(1);
    if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xc0)
      text.remove_suffix(1);
  }
  std::string out = "`";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  out += cut ? "...`" : "`";
  return out;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos)
      return parts;
    text.remove_prefix(end + 1);
  }
}

std::size_t first_bad_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    const std::size_t length = utf8_length(text.substr(at, 4));
    if (length == 0)
      return at;
    at += length;
  }
  return std::string_view::npos;
}

}  // namespace bulkhead
