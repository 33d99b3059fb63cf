#include "probes/identity.h"

#include <sodium.h>

#include <algorithm>

namespace bulkhead::probes {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

int nibble(char digit) {
  if (digit >= '0' && digit <= '9')
    return digit - '0';
  if (digit >= 'a' && digit <= 'f')
    return digit - 'a' + 10;
  return -1;
}

}  // namespace

std::string bytes_to_hex(std::span<const std::uint8_t> bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

bool bytes_from_hex(std::string_view text, std::span<std::uint8_t> bytes) {
  if (text.size() != bytes.size() * 2)
    return false;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const int high = nibble(text[2 * i]);
    const int low = nibble(text[2 * i + 1]);
    if (high < 0 || low < 0)
      return false;
    bytes[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  return true;
}

std::string to_hex(const Token& token) {
  return bytes_to_hex(token);
}

std::optional<Token> token_from_hex(std::string_view text) {
  Token token{};
  if (!bytes_from_hex(text, token))
    return std::nullopt;
  return token;
}

AgentKey random_key() {
  AgentKey key{};
  randombytes_buf(key.data(), key.size());  // usable without sodium_init (getrandom)
  return key;
}

std::optional<AgentKey> key_from_hex(std::string_view text) {
  AgentKey key{};
  if (!bytes_from_hex(text, key))
    return std::nullopt;
  return key;
}

Token answer_to(const AgentKey& key, const Token& token) {
  static_assert(crypto_auth_hmacsha256_KEYBYTES == std::tuple_size_v<AgentKey>);
  std::array<std::uint8_t, crypto_auth_hmacsha256_BYTES> mac{};
  crypto_auth_hmacsha256(mac.data(), token.data(), token.size(), key.data());
  Token answer{};
  std::copy_n(mac.begin(), answer.size(), answer.begin());
  return answer;
}

}  // namespace bulkhead::probes
