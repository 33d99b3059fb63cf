// IP addresses, prefixes and sets of addresses of both families. Values only; no name service.
// An IPv4 address and an IPv4-mapped IPv6 address are different values (RFC 4291 2.5.5.2 addresses
// are refused in policies).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "policy/support/interval_set.h"

namespace bulkhead {

enum class Family : std::uint8_t { V4, V6 };
inline constexpr Family kFamilies[] = {Family::V4, Family::V6};
[[nodiscard]] constexpr std::string_view to_string(Family family) {
  return family == Family::V4 ? "v4" : "v6";
}

// Network byte order, left-aligned: an IPv4 address uses the first four bytes, the rest are zero.
// Ordering: family first, then numeric.
struct Address {
  Family family = Family::V4;
  std::array<std::uint8_t, 16> bytes{};
  auto operator<=>(const Address&) const = default;

  [[nodiscard]] static std::optional<Address> parse(std::string_view text);
  [[nodiscard]] std::string str() const;  // RFC 5952 form for IPv6
  [[nodiscard]] bool is_multicast() const;
  [[nodiscard]] bool is_loopback() const;
  [[nodiscard]] bool is_link_local() const;  // 169.254/16, fe80::/10
  [[nodiscard]] bool is_unspecified() const;
};
[[nodiscard]] Address succ(Address address);  // wraps within the family at the end
[[nodiscard]] Address pred(Address address);
[[nodiscard]] constexpr int bits(Family family) {
  return family == Family::V4 ? 32 : 128;
}

// Always without host bits: `parse` refuses "10.1.2.3/8" (nft would widen it silently).
struct Prefix {
  Address base;
  std::uint8_t length = 0;
  auto operator<=>(const Prefix&) const = default;

  enum class Flaw { None, Syntax, HostBits };
  // On Flaw::HostBits `corrected`, when given, receives the prefix that was probably meant.
  [[nodiscard]] static std::optional<Prefix> parse(std::string_view text, Flaw* flaw = nullptr,
                                                   Prefix* corrected = nullptr);
  [[nodiscard]] std::string str() const;
  [[nodiscard]] Family family() const { return base.family; }
  [[nodiscard]] Address last() const;
  [[nodiscard]] bool contains(const Address& address) const;
  [[nodiscard]] bool overlaps(const Prefix& other) const;
  [[nodiscard]] Interval<Address> range() const { return {base, last()}; }
};

// "10.1.0.1/22": an interface's own address; host bits are the point here.
struct InterfaceAddress {
  Address address;
  std::uint8_t length = 0;
  auto operator<=>(const InterfaceAddress&) const = default;
  [[nodiscard]] static std::optional<InterfaceAddress> parse(std::string_view text);
  [[nodiscard]] std::string str() const;
  [[nodiscard]] Prefix prefix() const;
};

// Both families in one set; intervals never span families (the V4 end and V6 start do not join).
using AddressRange = Interval<Address>;
using AddressSet = IntervalSet<Address>;
[[nodiscard]] AddressRange whole(Family family);
[[nodiscard]] AddressSet of_family(const AddressSet& set, Family family);

}  // namespace bulkhead
