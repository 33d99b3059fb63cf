#include "policy/identifier.h"

#include <algorithm>
#include <cctype>

namespace bulkhead::policy {

namespace {

bool is_alnum(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool equal_but_for_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

}  // namespace

bool is_good_name(std::string_view name) {
  return !name.empty() && name.size() <= 63 && is_alnum(name[0]) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return is_alnum(c) || c == '-' || c == '_'; });
}

bool is_reserved_name(std::string_view name) {
  constexpr std::string_view kReserved[] = {"any", "all", "self", "live"};
  return std::any_of(std::begin(kReserved), std::end(kReserved),
                     [&](std::string_view word) { return equal_but_for_case(word, name); });
}

std::string nft_identifier(std::string_view name) {
  std::string out(name);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return !is_alnum(c); }, '_');
  return out;
}

}  // namespace bulkhead::policy
