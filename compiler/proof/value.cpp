#include "compiler/proof/value.h"

#include <algorithm>

namespace bulkhead::compiler::proof {

namespace {

constexpr unsigned kNameBytes = 16;  // IFNAMSIZ; the last one is always zero

// Byte i of sixteen, the first one being the most significant: names order like strings.
constexpr Value name_byte(std::string_view name, std::size_t i) {
  return Value{static_cast<unsigned char>(name[i])} << (8 * (kNameBytes - 1 - i));
}

}  // namespace

Value to_value(const Address& address) {
  const std::size_t bytes = address.family == Family::V4 ? 4 : 16;
  Value value = 0;
  for (std::size_t i = 0; i < bytes; ++i)
    value = value << 8 | address.bytes[i];
  return value;
}

Address to_address(Family family, Value value) {
  Address address{family, {}};
  const std::size_t bytes = family == Family::V4 ? 4 : 16;
  for (std::size_t i = bytes; i-- > 0; value >>= 8)
    address.bytes[i] = static_cast<std::uint8_t>(value & 0xff);
  return address;
}

ValueRange prefix_range(Value base, unsigned length, unsigned bits) {
  const Value host = length >= bits ? 0 : greatest(bits - length);
  return {base & ~host, base | host};
}

Value interface_name(std::string_view name) {
  Value value = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(name.size(), kNameBytes - 1); ++i)
    value |= name_byte(name, i);
  return value;
}

ValueRange name_prefix(std::string_view prefix) {
  const auto bytes = std::min<std::size_t>(prefix.size(), kNameBytes - 1);
  return prefix_range(interface_name(prefix), static_cast<unsigned>(8 * bytes), 128);
}

std::string name_of(Value value) {
  std::string name;
  for (int shift = 120; shift >= 0; shift -= 8) {
    const auto byte = static_cast<char>(static_cast<unsigned char>(value >> shift));
    if (byte == 0)
      break;
    name += byte;
  }
  return name;
}

std::string decimal(Value value) {
  std::string digits;
  do {
    digits += static_cast<char>('0' + static_cast<int>(value % 10));
    value /= 10;
  } while (value != 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

}  // namespace bulkhead::compiler::proof
