// What the proof knows of a packet: its fields, in the order in which diagrams ask them. The order
// is that of our own rules (leg, source, destination, egress, service), so that a diagram of them
// is as large as they are; docs/adr/0004-packet-sets.md has the measurements.
//
// Each bit of a packet is in one field only, however many ways nft has to name it (selector.h): the
// type and code of ICMP are the two bytes that are the source port elsewhere, as for nf_tables.
//
// A field that a packet does not have (IPv4 addresses of an IPv6 packet, a queue pair of a later
// fragment) is never asked of it: a match first asks the fields that say whether it exists (family,
// fragment), which stand before it in the order. Two packets that differ only there are then one
// packet, and equal sets stay equal diagrams.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "compiler/proof/value.h"

namespace bulkhead::compiler::proof {

enum class Field : std::uint8_t {
  // link
  InInterface,  // a name as a number (value.h); 0: none, in output
  InPort,       // `meta sdifname`: the port below a VRF device; 0: none
  InGroup,
  InType,
  LinkHeader,  // 1 where there is one
  FrameType,   // `ether type`, of a frame as it is: 8021q where a tag is in it
  VlanId,
  VlanPriority,
  VlanDei,
  VlanType,
  EtherSource,
  EtherDestination,
  Family,         // kIpv4, kIpv6, kArp, kOtherFamily
  OtherProtocol,  // `meta protocol` of kOtherFamily
  // network
  Source4,  // of ARP: the sender's address
  Source6,
  Destination4,  // of ARP: the target's address
  Destination6,
  OutInterface,  // 0: none, before routing and in input
  OutGroup,
  OutType,
  ArpOperation,
  ArpSourceEther,
  ArpDestinationEther,
  HopByHopHeader,  // extension headers of IPv6: 1 where there is one
  RoutingHeader,
  FragmentHeader,
  DestinationHeader,
  MobilityHeader,
  Fragment,    // as in IPv4: kMoreFragments, kDontFragment, and the offset; 0 without such a header
  NextHeader,  // `ip6 nexthdr`: the first one, of an extension perhaps
  Protocol,    // `meta l4proto`: behind all extension headers
  Dscp,
  Ecn,
  FlowLabel,
  NetworkLength,
  NetworkId,
  HopLimit,  // and `ip ttl`
  // transport: places in its header, of whichever protocol
  DestinationPort,  // bytes 2-3
  SourcePort,       // bytes 0-1; of ICMP its type and code
  QueuePair,        // bytes 13-15 of a BTH; the first of them is where TCP has its flags
  BthOpcode,
  BthPKey,
  ManagementClass,  // of a RoCEv2 management datagram
  ManagementAttribute,
  // state
  CtState,      // of enum CtState
  CtDirection,  // kOriginal, kReply
  CtStatus,     // IPS_* bits
  CtMark,
  CtZone,
  CtProtocol,  // of an ICMP error: that of the connection it is about
  CtOriginalSource4,
  CtOriginalSource6,
  CtOriginalDestination4,
  CtOriginalDestination6,
  CtOriginalSourcePort,
  CtOriginalDestinationPort,
  CtReplySource4,
  CtReplySource6,
  CtReplyDestination4,
  CtReplyDestination6,
  CtReplySourcePort,
  CtReplyDestinationPort,
  Mark,
  // what the machine says: free, but the same for every rule that asks
  PacketType,  // PACKET_HOST 0, broadcast 1, multicast 2, other host 3, ...
  PacketLength,
  Priority,
  LocalSocket,  // 1: it was sent by one
  UserId,       // of that socket
  GroupId,
  Trace,
  FibSourceRoute,           // `fib saddr oif exists`
  FibSourceRouteBound,      // `fib saddr . iif oif exists`: reverse path
  FibSourceOut,             // `fib saddr oifname`
  FibSourceType,            // `fib saddr type`, RTN_*
  FibDestinationRoute,      // `fib daddr oif exists`
  FibDestinationOut,        // `fib daddr oifname`
  FibDestinationType,       // `fib daddr type`
  FibDestinationTypeBound,  // `fib daddr . iif type`
};

inline constexpr Value kIpv4 = 0, kIpv6 = 1, kArp = 2, kOtherFamily = 3;
inline constexpr Value kOriginal = 0, kReply = 1;
inline constexpr Value kMoreFragments = 0x2000, kDontFragment = 0x4000, kFragmentOffset = 0x1fff;

// Exactly one holds of a packet.
enum class CtState : std::uint8_t { New, Established, Related, Invalid, Untracked };

struct FieldInfo {
  std::string_view name;  // nft's words
  std::uint8_t bits;
  std::uint8_t digit;     // bits that one level of a diagram takes; divides `bits`, at most 16
  std::uint16_t max = 0;  // largest value of a field of one digit; 0: all ones
};

// By Field. Wide fields are asked digit by digit, most significant first (diagram.h says why).
inline constexpr std::array kFields = std::to_array<FieldInfo>({
    {"iifname", 128, 16},
    {"meta sdifname", 128, 16},
    {"meta iifgroup", 32, 8},
    {"meta iiftype", 16, 16},
    {"link header", 1, 1},
    {"ether type", 16, 16},
    {"vlan id", 12, 12},
    {"vlan pcp", 3, 3},
    {"vlan dei", 1, 1},
    {"vlan type", 16, 16},
    {"ether saddr", 48, 8},
    {"ether daddr", 48, 8},
    {"meta nfproto", 2, 2},
    {"meta protocol", 16, 16},
    {"ip saddr", 32, 8},
    {"ip6 saddr", 128, 8},
    {"ip daddr", 32, 8},
    {"ip6 daddr", 128, 8},
    {"oifname", 128, 16},
    {"meta oifgroup", 32, 8},
    {"meta oiftype", 16, 16},
    {"arp operation", 16, 16},
    {"arp saddr ether", 48, 8},
    {"arp daddr ether", 48, 8},
    {"exthdr hbh", 1, 1},
    {"exthdr rt", 1, 1},
    {"exthdr frag", 1, 1},
    {"exthdr dst", 1, 1},
    {"exthdr mh", 1, 1},
    {"ip frag-off", 16, 8},
    {"ip6 nexthdr", 8, 8},
    {"meta l4proto", 8, 8},
    {"ip dscp", 6, 6},
    {"ip ecn", 2, 2},
    {"ip6 flowlabel", 20, 10},
    {"ip length", 16, 8},
    {"ip id", 16, 8},
    {"ip ttl", 8, 8},
    {"th dport", 16, 8},
    {"th sport", 16, 8},
    {"bth dest-qp", 24, 8},
    {"bth opcode", 8, 8},
    {"bth pkey", 16, 8},
    {"mad class", 8, 8},
    {"mad attribute", 16, 8},
    {"ct state", 3, 3, 4},
    {"ct direction", 1, 1},
    {"ct status", 32, 8},
    {"ct mark", 32, 8},
    {"ct zone", 16, 16},
    {"ct protocol", 8, 8},
    {"ct original ip saddr", 32, 8},
    {"ct original ip6 saddr", 128, 8},
    {"ct original ip daddr", 32, 8},
    {"ct original ip6 daddr", 128, 8},
    {"ct original proto-src", 16, 8},
    {"ct original proto-dst", 16, 8},
    {"ct reply ip saddr", 32, 8},
    {"ct reply ip6 saddr", 128, 8},
    {"ct reply ip daddr", 32, 8},
    {"ct reply ip6 daddr", 128, 8},
    {"ct reply proto-src", 16, 8},
    {"ct reply proto-dst", 16, 8},
    {"meta mark", 32, 8},
    {"meta pkttype", 8, 8},
    {"meta length", 32, 8},
    {"meta priority", 32, 8},
    {"local socket", 1, 1},
    {"meta skuid", 32, 8},
    {"meta skgid", 32, 8},
    {"meta nftrace", 1, 1},
    {"fib saddr oif", 1, 1},
    {"fib saddr . iif oif", 1, 1},
    {"fib saddr oifname", 128, 16},
    {"fib saddr type", 8, 8},
    {"fib daddr oif", 1, 1},
    {"fib daddr oifname", 128, 16},
    {"fib daddr type", 8, 8},
    {"fib daddr . iif type", 8, 8},
});
inline constexpr std::size_t kFieldCount = kFields.size();
static_assert(kFieldCount == static_cast<std::size_t>(Field::FibDestinationTypeBound) + 1);

[[nodiscard]] constexpr const FieldInfo& info(Field field) {
  return kFields[static_cast<std::size_t>(field)];
}
[[nodiscard]] constexpr Value max_of(const FieldInfo& field) {
  return field.max != 0 ? field.max : greatest(field.bits);
}
[[nodiscard]] constexpr Value max_of(Field field) {
  return max_of(info(field));
}

}  // namespace bulkhead::compiler::proof
