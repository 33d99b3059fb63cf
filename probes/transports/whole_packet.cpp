#include "probes/transports/whole_packet.h"

#include <netinet/in.h>

#include <cerrno>
#include <span>

#include "probes/packet.h"
#include "probes/transports/socket_tools.h"

namespace bulkhead::probes {
namespace {

using Bytes = std::vector<std::uint8_t>;

void put_u16(Bytes& out, std::size_t value) {
  out.push_back(static_cast<std::uint8_t>(value >> 8));
  out.push_back(static_cast<std::uint8_t>(value));
}

void put_u32(Bytes& out, std::uint32_t value) {
  put_u16(out, value >> 16);
  put_u16(out, value & 0xffff);
}

void put_address(Bytes& out, const Address& address) {
  const auto length = address.family == Family::V4 ? 4 : 16;
  out.insert(out.end(), address.bytes.begin(), address.bytes.begin() + length);
}

void set_u16(Bytes& out, std::size_t at, std::uint16_t value) {
  out[at] = static_cast<std::uint8_t>(value >> 8);
  out[at + 1] = static_cast<std::uint8_t>(value);
}

// With the pseudo header of RFC 9293 3.1, RFC 768 and RFC 8200 8.1.
std::uint16_t checksum_of(const Bytes& segment, std::uint8_t protocol, const Tuple& tuple) {
  Bytes all;
  put_address(all, tuple.from);
  put_address(all, tuple.to);
  put_u16(all, protocol);
  put_u16(all, segment.size());
  all.insert(all.end(), segment.begin(), segment.end());
  return internet_checksum(all);
}

// A SYN, or a lone ACK with the token.
Bytes segment(const Expected& what) {
  constexpr std::size_t kChecksum = 16;
  const bool lone_ack = what.payload == compiler::Payload::LoneAck;
  Bytes out;
  put_u16(out, what.tuple.sport);
  put_u16(out, what.tuple.port);
  put_u32(out, initial_sequence(what.token));
  put_u32(out, 0);
  out.insert(out.end(), {0x50, lone_ack ? std::uint8_t{0x10} : std::uint8_t{0x02}});  // ACK or SYN
  put_u16(out, 64240);
  put_u16(out, 0);  // checksum
  put_u16(out, lone_ack ? kLoneAckMark : 0);
  if (lone_ack)
    out.insert(out.end(), what.token.begin(), what.token.end());
  set_u16(out, kChecksum, checksum_of(out, IPPROTO_TCP, what.tuple));
  return out;
}

Bytes datagram(const DialTry& what) {
  constexpr std::size_t kHeader = 8, kChecksum = 6;
  const Tuple& tuple = what.what.tuple;
  const Bytes payload = udp_payload(what);
  Bytes out;
  put_u16(out, tuple.sport);
  put_u16(out, tuple.port);
  put_u16(out, kHeader + payload.size());
  put_u16(out, 0);
  out.insert(out.end(), payload.begin(), payload.end());
  const std::uint16_t sum = checksum_of(out, IPPROTO_UDP, tuple);
  set_u16(out, kChecksum, sum == 0 ? 0xffff : sum);
  return out;
}

Bytes query(const DialTry& what) {
  constexpr std::size_t kChecksum = 2;
  Bytes out = icmp_query(what);
  if (what.what.tuple.from.family == Family::V6)
    set_u16(out, kChecksum, checksum_of(out, IPPROTO_ICMPV6, what.what.tuple));
  return out;
}

Bytes segment_of(const DialTry& what) {
  switch (what.what.transport) {
    case compiler::Transport::Tcp:
      return segment(what.what);
    case compiler::Transport::Udp:
      return datagram(what);
    case compiler::Transport::Raw:
      return raw_payload(what.what);
    case compiler::Transport::Icmp:
      break;
  }
  return query(what);
}

std::uint8_t protocol_of(const Expected& what) {
  const TransportRow& row = transport_row(what.transport);
  const std::uint8_t protocol =
      what.tuple.from.family == Family::V4 ? row.protocol_v4 : row.protocol_v6;
  return protocol == kAnyOther ? static_cast<std::uint8_t>(what.tuple.port) : protocol;
}

}  // namespace

std::vector<std::uint8_t> whole_packet(const DialTry& what) {
  constexpr std::uint8_t kHopLimit = 64;
  const Tuple& tuple = what.what.tuple;
  const std::uint8_t protocol = protocol_of(what.what);
  const Bytes segment = segment_of(what);
  Bytes out;
  if (tuple.from.family == Family::V4) {
    constexpr std::size_t kHeader = 20, kChecksum = 10;
    out = {0x45, 0};
    put_u16(out, kHeader + segment.size());
    out.insert(out.end(), {0, 0, 0, 0, kHopLimit, protocol, 0, 0});
    put_address(out, tuple.from);
    put_address(out, tuple.to);
    set_u16(out, kChecksum, internet_checksum(out));
  } else {
    out = {0x60, 0, 0, 0};
    put_u16(out, segment.size());
    out.insert(out.end(), {protocol, kHopLimit});
    put_address(out, tuple.from);
    put_address(out, tuple.to);
  }
  out.insert(out.end(), segment.begin(), segment.end());
  return out;
}

int send_whole(const Address& own, const DialTry& what) {
  // IPPROTO_RAW: the header is ours, in both families (raw(7), ipv6(7)).
  const UniqueFd fd = open_socket(own.family, SOCK_RAW, IPPROTO_RAW);
  if (!fd)
    return errno;
  // Bound, so that the kernel takes the route that `own` would take.
  const SocketAddress local = socket_address(own, 0);
  if (::bind(fd.get(), local.get(), local.length) != 0)
    return errno;
  const std::vector<std::uint8_t> packet = whole_packet(what);
  const SocketAddress to = socket_address(what.what.tuple.to, 0);
  const ssize_t sent =
      ::sendto(fd.get(), packet.data(), packet.size(), MSG_NOSIGNAL, to.get(), to.length);
  return sent < 0 ? errno : 0;
}

}  // namespace bulkhead::probes
