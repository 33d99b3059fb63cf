// Prefixes with host bits: nft 1.0.6 takes 10.1.2.3/8 for 10.0.0.0/8 without a word, and lists it
// so; only the text shows that a host was meant, or a longer prefix.
#include <fmt/format.h>

#include "compiler/lint/checks.h"
#include "policy/support/address.h"

namespace bulkhead::compiler::lint {

void host_bits(Context& context, Findings& out) {
  const std::string_view text = context.options.text;
  std::uint32_t line = 1;
  std::string word;
  bool in_comment = false;
  const auto look = [&] {
    const std::size_t slash = word.find('/');
    if (slash != std::string::npos && !Prefix::parse(word)) {
      const auto address = Address::parse(std::string_view(word).substr(0, slash));
      // The same without the address's own bits is a prefix: so it is the host bits that it fails
      // for.
      const std::string zero = address && address->family == Family::V6 ? "::" : "0.0.0.0";
      if (address && Prefix::parse(zero + word.substr(slash))) {
        add(out, "host-bits", Severity::Warning, fmt::format("`{}`", word),
            fmt::format("it has bits behind its length: nft takes it for everything of /{}",
                        word.substr(slash + 1)),
            "write the address alone, or the prefix that is meant");
        out.back().line = line;
      }
    }
    word.clear();
  };
  for (const char c : text) {
    if (c == '#')
      in_comment = true;
    const bool ends = c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == ';' ||
                      c == '{' || c == '}' || c == '=' || in_comment;
    if (!ends)
      word += c;
    else if (!word.empty())
      look();
    if (c == '\n') {
      in_comment = false;
      ++line;
    }
  }
  look();
}

}  // namespace bulkhead::compiler::lint
