// Who answered: each agent has a key of its own for a run, and answers a token with a MAC over it,
// so that another host holding the address, a proxy or a SYN proxy cannot pass for the listener.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "probes/evidence.h"

namespace bulkhead::probes {

using AgentKey = std::array<std::uint8_t, 32>;

[[nodiscard]] AgentKey random_key();
[[nodiscard]] std::optional<AgentKey> key_from_hex(std::string_view text);
// HMAC-SHA256(key, token), its first 16 bytes.
[[nodiscard]] Token answer_to(const AgentKey& key, const Token& token);

[[nodiscard]] std::string bytes_to_hex(std::span<const std::uint8_t> bytes);
// False, and `bytes` undefined, unless `text` is exactly 2 x bytes.size() hex digits.
[[nodiscard]] bool bytes_from_hex(std::string_view text, std::span<std::uint8_t> bytes);

}  // namespace bulkhead::probes
