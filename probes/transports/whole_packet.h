// Opening packets made whole, IP header included, and sent through a raw socket: with a source that
// is another's, or a source port that a socket of this host holds. They pass the sender's own rules
// and routes like any packet of it, and the kernel says when one of its rules refused them.
#pragma once

#include <cstdint>
#include <vector>

#include "probes/message.h"

namespace bulkhead::probes {

// Base transport header where there is one, token, filling.
[[nodiscard]] std::vector<std::uint8_t> udp_payload(const DialTry& what);

// Token behind the query's header; ICMPv6's checksum is left to the kernel.
[[nodiscard]] std::vector<std::uint8_t> icmp_query(const DialTry& what);

// A SYN with the token's sequence number, a lone ACK, a datagram or another protocol's packet with
// the token, or an ICMP query.
[[nodiscard]] std::vector<std::uint8_t> whole_packet(const DialTry& what);

// What stands behind the IP header of a try of any other protocol.
[[nodiscard]] std::vector<std::uint8_t> raw_payload(const Expected& what);

// Sent as `own`, an address of this host, chooses the route, whatever the packet says. 0 or errno;
// EPERM: a rule of this very host refused it.
[[nodiscard]] int send_whole(const Address& own, const DialTry& what);

}  // namespace bulkhead::probes
