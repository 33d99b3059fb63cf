// SHA-256 (FIPS 180-4) by libsodium: digests of artifacts, and short names for long rule-id lists.
#pragma once

#include <string>
#include <string_view>

namespace bulkhead {

[[nodiscard]] std::string sha256_hex(std::string_view bytes);  // 64 lower-case hex digits

}  // namespace bulkhead
