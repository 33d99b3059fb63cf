#include "compiler/proof/packet_bytes.h"

#include <algorithm>
#include <cstddef>

namespace bulkhead::compiler::proof {

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint8_t kIcmp = 1, kTcp = 6, kUdp = 17, kIcmp6 = 58, kSctp = 132, kUdpLite = 136,
                       kDccp = 33, kFragmentHeader = 44, kDestinationOptions = 60;

void put16(Bytes& bytes, std::size_t at, unsigned value) {
  bytes[at] = static_cast<std::uint8_t>(value >> 8);
  bytes[at + 1] = static_cast<std::uint8_t>(value);
}

void append(Bytes& bytes, const Bytes& more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

std::uint32_t sum_of(const Bytes& bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    sum += i % 2 == 0 ? std::uint32_t{bytes[i]} << 8 : bytes[i];
  return sum;
}

std::uint16_t folded(std::uint32_t sum) {
  while (sum >> 16 != 0)
    sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

Bytes address_bytes(const Address& address) {
  const auto size = static_cast<std::ptrdiff_t>(bits(address.family) / 8);
  return {address.bytes.begin(), address.bytes.begin() + size};
}

// Of a transport segment, with the addresses, its length and its protocol.
std::uint16_t checksum(const PacketFacts& facts, const Bytes& segment) {
  return folded(sum_of(address_bytes(facts.from)) + sum_of(address_bytes(facts.to)) +
                static_cast<std::uint32_t>(segment.size()) + facts.protocol + sum_of(segment));
}

Bytes with_ports(const PacketFacts& facts, std::size_t size) {
  Bytes header(size);
  put16(header, 0, facts.sport);
  put16(header, 2, facts.dport);
  return header;
}

Bytes segment_of(const PacketFacts& facts) {
  Bytes segment;
  std::size_t checksum_at = 0;
  switch (facts.protocol) {
    case kTcp:
      segment = with_ports(facts, 20);
      segment[12] = 5 << 4;
      segment[13] = facts.tcp_flags;
      put16(segment, 14, 0xffff);
      checksum_at = 16;
      break;
    case kUdp:
    case kUdpLite:
      segment = with_ports(facts, 8);
      put16(segment, 4, static_cast<unsigned>(8 + facts.payload.size()));
      checksum_at = 6;
      break;
    case kSctp:
    case kDccp:
      segment = with_ports(facts, 12);
      break;
    case kIcmp:
    case kIcmp6:
      segment.resize(8);
      segment[0] = facts.icmp_type;
      segment[1] = facts.icmp_code;
      put16(segment, 4, facts.icmp_id);
      checksum_at = 2;
      break;
    default:
      break;
  }
  append(segment, facts.payload);
  if (facts.protocol == kIcmp)
    put16(segment, checksum_at, folded(sum_of(segment)));
  else if (checksum_at != 0)
    put16(segment, checksum_at, checksum(facts, segment));
  return segment;
}

Bytes packet4(const PacketFacts& facts, const Bytes& body) {
  Bytes header(20);
  header[0] = 0x45;
  header[1] = static_cast<std::uint8_t>(facts.dscp << 2);
  put16(header, 2, static_cast<unsigned>(header.size() + body.size()));
  put16(header, 4, 0x1234);
  if (facts.fragment)
    put16(header, 6, facts.fragment->offset | (facts.fragment->more ? 0x2000U : 0U));
  header[8] = facts.hop_limit;
  header[9] = facts.protocol;
  const Bytes from = address_bytes(facts.from), to = address_bytes(facts.to);
  std::copy(from.begin(), from.end(), header.begin() + 12);
  std::copy(to.begin(), to.end(), header.begin() + 16);
  put16(header, 10, folded(sum_of(header)));
  append(header, body);
  return header;
}

Bytes packet6(const PacketFacts& facts, const Bytes& body) {
  Bytes header(40);
  header[0] = static_cast<std::uint8_t>(0x60 | facts.dscp >> 2);
  header[1] = static_cast<std::uint8_t>(facts.dscp << 6);
  header[7] = facts.hop_limit;
  const Bytes from = address_bytes(facts.from), to = address_bytes(facts.to);
  std::copy(from.begin(), from.end(), header.begin() + 8);
  std::copy(to.begin(), to.end(), header.begin() + 24);
  std::size_t next_header_at = 6;
  const auto add_header = [&](std::uint8_t type, const Bytes& extension) {
    header[next_header_at] = type;
    next_header_at = header.size();
    append(header, extension);
  };
  if (facts.fragment) {
    Bytes extension(8);
    put16(extension, 2, facts.fragment->offset << 3 | (facts.fragment->more ? 1U : 0U));
    extension[7] = 1;  // identification
    add_header(kFragmentHeader, extension);
  }
  if (facts.destination_options)
    add_header(kDestinationOptions, {0, 0, 1, 4, 0, 0, 0, 0});  // one PadN of four bytes
  header[next_header_at] = facts.protocol;
  append(header, body);
  put16(header, 4, static_cast<unsigned>(header.size() - 40));
  return header;
}

}  // namespace

std::vector<std::uint8_t> bytes_of(const PacketFacts& facts) {
  const bool later = facts.fragment && facts.fragment->offset != 0;
  const Bytes body = later ? facts.payload : segment_of(facts);
  return facts.from.family == Family::V4 ? packet4(facts, body) : packet6(facts, body);
}

}  // namespace bulkhead::compiler::proof
