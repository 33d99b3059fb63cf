// What a rule may look at in a packet: one enumerator a header field, however nft spells it.
// `tcp dport`, `udp dport` and `th dport` are the same two bytes and so the same selector; that a
// rule means only TCP is a match of its own (Rule::statements says which were implied).
//
// Payload selectors are places in the packet (base, bit offset, bits). A read may fail: nf_tables
// then leaves the rule, whatever the operator says.
//   Link       fails without a link header (an IP tunnel, locally made packets before the device)
//   Network    never fails in a table of its family; implied matches see to the others
//   Transport  fails past the end of the packet, and in later fragments where the field is not of
//   1,
//              2 or 4 bytes: is_read_in_fragments() (packet.h); ports of one are its data
//   Extension  of IPv6; "exists" never fails, fields fail where the header is missing
//   Conntrack  fails without an entry (untracked, invalid), but for CtState
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bulkhead::compiler::proof {

enum class Base : std::uint8_t { Link, Network, Transport, Extension, Meta, Conntrack, Lookup };

enum class Selector : std::uint8_t {
  // Link
  EtherDaddr,
  EtherSaddr,
  EtherType,  // as in the frame: 8021q (0x8100) where a tag is in it
  VlanPcp,
  VlanDei,
  VlanId,
  VlanType,
  // Network: IPv4
  Ip4Dscp,
  Ip4Ecn,
  Ip4Length,
  Ip4Id,
  Ip4FragOff,  // flags (0x8000 reserved, 0x4000 DF, 0x2000 MF) and offset in units of eight bytes
  Ip4Ttl,
  Ip4Protocol,
  Ip4Saddr,
  Ip4Daddr,
  // Network: IPv6
  Ip6Dscp,
  Ip6Ecn,
  Ip6FlowLabel,
  Ip6Length,
  Ip6NextHeader,  // of the fixed header only: an extension header hides the transport from it
  Ip6HopLimit,
  Ip6Saddr,
  Ip6Daddr,
  // Network: ARP
  ArpOperation,
  ArpSaddrEther,
  ArpSaddrIp,
  ArpDaddrEther,
  ArpDaddrIp,
  // Extension headers of IPv6: 1 where the header is in the packet
  ExtHopByHop,
  ExtRouting,
  ExtFragment,
  ExtDestination,
  ExtMobility,
  FragmentOffset,  // in units of eight bytes
  FragmentMore,
  // Transport. Of an ICMP packet ThSport reads type and code: what nf_tables does too.
  ThSport,
  ThDport,
  TcpFlags,  // one byte, FIN is bit 0
  IcmpType,  // of ICMP and ICMPv6
  IcmpCode,
  // RoCEv2: BTH behind a UDP header
  BthOpcode,     // @th,64,8
  BthPkey,       // @th,80,16
  BthDestQp,     // @th,104,24; overlaps TcpFlags in a TCP packet
  MadClass,      // @th,232,8: management class of a RoCEv2 datagram to QP 1
  MadAttribute,  // @th,352,16
  Raw,           // any other place: Operand::place
  // Meta
  MetaNfproto,   // 2 IPv4, 10 IPv6
  MetaProtocol,  // ethertype
  MetaL4proto,   // behind all extension headers; fails where there is no IP
  MetaMark,
  MetaIif,  // index; `iif NAME` is listed by name and is MetaIifname here
  MetaOif,
  MetaIifname,
  MetaOifname,
  MetaIifgroup,  // groups and types: reading fails without the device
  MetaOifgroup,
  MetaIiftype,
  MetaOiftype,
  MetaPkttype,
  MetaLength,
  MetaPriority,
  MetaSkuid,  // fails without a local socket
  MetaSkgid,
  MetaSdif,
  MetaSdifname,
  MetaNftrace,
  // Conntrack
  CtState,      // one of the bits below
  CtDirection,  // 0 original, 1 reply
  CtStatus,
  CtMark,
  CtZone,
  CtL3proto,
  CtProtocol,
  CtOriginalSaddr4,
  CtOriginalDaddr4,
  CtOriginalSaddr6,
  CtOriginalDaddr6,
  CtOriginalSport,
  CtOriginalDport,
  CtReplySaddr4,
  CtReplyDaddr4,
  CtReplySaddr6,
  CtReplyDaddr6,
  CtReplySport,
  CtReplyDport,
  // Lookup in the routing tables: Operand::fib
  FibOif,  // 1 where there is a route ("exists"), or with a name: FibOifname
  FibOifname,
  FibType,  // RTN_*: unicast 1, local 2, broadcast 3, ...
};
inline constexpr std::size_t kSelectors = static_cast<std::size_t>(Selector::FibType) + 1;

// Bits of CtState. A packet has exactly one.
inline constexpr std::uint8_t kCtInvalid = 1, kCtEstablished = 2, kCtRelated = 4, kCtNew = 8,
                              kCtUntracked = 64;

// A piece of the packet, in bits from the begin of its base.
struct Place {
  Base base = Base::Transport;
  std::uint16_t offset = 0;
  std::uint16_t bits = 0;
  auto operator<=>(const Place&) const = default;
};

struct SelectorInfo {
  Selector selector;
  std::string_view name;  // as nft writes it: "ip saddr"
  Base base;
  std::uint16_t bits;    // width of the value
  std::uint16_t offset;  // in bits, of Link, Network and Transport
};
[[nodiscard]] const SelectorInfo& info(Selector selector);
// The selector at that place, Raw where none is named.
[[nodiscard]] Selector selector_at(const Place& place);

}  // namespace bulkhead::compiler::proof
