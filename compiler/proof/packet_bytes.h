// Bytes of one IP packet out of a few facts, checksums made: for questions that come as "from, to,
// tcp 22", and for packets that are to be sent.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "policy/support/address.h"

namespace bulkhead::compiler::proof {

struct Fragment {
  std::uint16_t offset = 0;  // in units of eight bytes; 0: the first one, with the transport header
  bool more = true;
};

struct PacketFacts {
  Address from, to;  // of one family
  std::uint8_t protocol = 17;
  std::uint16_t sport = 40000, dport = 0;  // TCP, UDP, UDP-Lite, SCTP, DCCP
  std::uint8_t tcp_flags = 0x02;           // SYN
  std::uint8_t icmp_type = 8, icmp_code = 0;
  std::uint16_t icmp_id = 1;
  std::uint8_t hop_limit = 64;
  std::uint8_t dscp = 0;
  bool destination_options = false;  // IPv6 extension headers before the transport header
  std::optional<Fragment> fragment;
  std::vector<std::uint8_t> payload;  // behind the transport header
};

[[nodiscard]] std::vector<std::uint8_t> bytes_of(const PacketFacts& facts);

}  // namespace bulkhead::compiler::proof
