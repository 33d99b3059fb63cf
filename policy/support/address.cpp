#include "policy/support/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace bulkhead {

namespace {

std::size_t size_of(Family family) {
  return family == Family::V4 ? 4 : 16;
}

// Clears (or sets) every bit after the first `length`.
Address with_host_bits(Address address, int length, bool ones) {
  for (int bit = length; bit < bits(address.family); ++bit) {
    const auto byte = static_cast<std::size_t>(bit / 8);
    const auto mask = static_cast<std::uint8_t>(0x80U >> (bit % 8));
    if (ones) {
      address.bytes[byte] = static_cast<std::uint8_t>(address.bytes[byte] | mask);
    } else {
      address.bytes[byte] = static_cast<std::uint8_t>(address.bytes[byte] & ~mask);
    }
  }
  return address;
}

struct SlashForm {
  Address address;
  int length = 0;
};

// "ADDRESS/LENGTH"; a bare address is its own host prefix.
std::optional<SlashForm> parse_slash(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto address = Address::parse(text.substr(0, slash));
  if (!address)
    return std::nullopt;
  if (slash == std::string_view::npos)
    return SlashForm{*address, bits(address->family)};
  const std::string_view digits = text.substr(slash + 1);
  if (digits.empty() || digits.size() > 3 || (digits.size() > 1 && digits[0] == '0')) {
    return std::nullopt;
  }
  int length = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  if (error != std::errc{} || end != digits.data() + digits.size())
    return std::nullopt;
  if (length < 0 || length > bits(address->family))
    return std::nullopt;
  return SlashForm{*address, length};
}

}  // namespace

std::optional<Address> Address::parse(std::string_view text) {
  if (text.empty() || text.size() >= INET6_ADDRSTRLEN)
    return std::nullopt;
  const std::string terminated(text);
  if (terminated.find('\0') != std::string::npos)
    return std::nullopt;
  Address address;
  address.family = text.find(':') == std::string_view::npos ? Family::V4 : Family::V6;
  const int domain = address.family == Family::V4 ? AF_INET : AF_INET6;
  if (inet_pton(domain, terminated.c_str(), address.bytes.data()) != 1)
    return std::nullopt;
  return address;
}

std::string Address::str() const {
  char text[INET6_ADDRSTRLEN];
  inet_ntop(family == Family::V4 ? AF_INET : AF_INET6, bytes.data(), text, sizeof text);
  return text;
}

bool Address::is_multicast() const {
  return family == Family::V4 ? (bytes[0] & 0xf0) == 0xe0 : bytes[0] == 0xff;
}

bool Address::is_loopback() const {
  if (family == Family::V4)
    return bytes[0] == 127;
  return std::all_of(bytes.begin(), bytes.end() - 1, [](auto b) { return b == 0; }) &&
         bytes[15] == 1;
}

bool Address::is_link_local() const {
  if (family == Family::V4)
    return bytes[0] == 169 && bytes[1] == 254;
  return bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
}

bool Address::is_unspecified() const {
  return std::all_of(bytes.begin(), bytes.end(), [](auto b) { return b == 0; });
}

Address succ(Address address) {
  for (std::size_t i = size_of(address.family); i-- > 0;) {
    if (++address.bytes[i] != 0)
      break;
  }
  return address;
}

Address pred(Address address) {
  for (std::size_t i = size_of(address.family); i-- > 0;) {
    if (address.bytes[i]-- != 0)
      break;
  }
  return address;
}

std::optional<Prefix> Prefix::parse(std::string_view text, Flaw* flaw, Prefix* corrected) {
  if (flaw)
    *flaw = Flaw::None;
  const auto form = parse_slash(text);
  if (!form) {
    if (flaw)
      *flaw = Flaw::Syntax;
    return std::nullopt;
  }
  const Prefix prefix{with_host_bits(form->address, form->length, false),
                      static_cast<std::uint8_t>(form->length)};
  if (prefix.base == form->address)
    return prefix;
  if (flaw)
    *flaw = Flaw::HostBits;
  if (corrected)
    *corrected = prefix;
  return std::nullopt;
}

std::string Prefix::str() const {
  return fmt::format("{}/{}", base.str(), length);
}

Address Prefix::last() const {
  return with_host_bits(base, length, true);
}

bool Prefix::contains(const Address& address) const {
  return address.family == base.family && range().contains(address);
}

bool Prefix::overlaps(const Prefix& other) const {
  return contains(other.base) || other.contains(base);
}

std::optional<InterfaceAddress> InterfaceAddress::parse(std::string_view text) {
  if (text.find('/') == std::string_view::npos)
    return std::nullopt;
  const auto form = parse_slash(text);
  if (!form)
    return std::nullopt;
  return InterfaceAddress{form->address, static_cast<std::uint8_t>(form->length)};
}

std::string InterfaceAddress::str() const {
  return fmt::format("{}/{}", address.str(), length);
}

Prefix InterfaceAddress::prefix() const {
  return {with_host_bits(address, length, false), length};
}

AddressRange whole(Family family) {
  Address first;
  first.family = family;
  return {first, with_host_bits(first, 0, true)};
}

AddressSet of_family(const AddressSet& set, Family family) {
  return set & AddressSet{whole(family)};
}

}  // namespace bulkhead
