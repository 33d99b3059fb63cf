// Names that people choose, and the names that other programs take. One cleaning for all of them,
// so that validate can report every collision before a target meets it.
#pragma once

#include <string>
#include <string_view>

namespace bulkhead::policy {

// At most 63 bytes: a letter or digit first, then letters, digits, `-` and `_`. Dots, colons and
// plus signs have a meaning in selectors and class names.
[[nodiscard]] bool is_good_name(std::string_view name);
// any, ALL, SELF and live mean something of their own, in any spelling of case.
[[nodiscard]] bool is_reserved_name(std::string_view name);

// For nftables identifiers: every byte outside [A-Za-z0-9] becomes `_`. Always put a prefix before
// it: fwd, mark, log, ct, vlan are keywords of nft 1.0.6, quoting does not help for chains, and an
// identifier must not begin with a digit.
[[nodiscard]] std::string nft_identifier(std::string_view name);

}  // namespace bulkhead::policy
