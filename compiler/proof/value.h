// A value that nftables compares: a number of at most 128 bits. Addresses are numbers in network
// order, and interface names are sixteen bytes, so that a prefix and a wildcard name ("eth*") are
// nothing but ranges.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "policy/support/address.h"
#include "policy/support/interval_set.h"

namespace bulkhead::compiler::proof {

__extension__ using Value = unsigned __int128;

using ValueRange = Interval<Value>;

// The greatest value of a field of that many bits, 1 to 128.
[[nodiscard]] constexpr Value greatest(unsigned bits) {
  return bits >= 128 ? ~Value{0} : (Value{1} << bits) - 1;
}

[[nodiscard]] Value to_value(const Address& address);
[[nodiscard]] Address to_address(Family family, Value value);
[[nodiscard]] ValueRange prefix_range(Value base, unsigned length, unsigned bits);

// Names over 15 characters are cut, as the kernel would. "eth*" as a wildcard is
// name_prefix("eth").
[[nodiscard]] Value interface_name(std::string_view name);
[[nodiscard]] ValueRange name_prefix(std::string_view prefix);
// "eth0"; the name up to its first zero byte.
[[nodiscard]] std::string name_of(Value value);

[[nodiscard]] std::string decimal(Value value);

}  // namespace bulkhead::compiler::proof
