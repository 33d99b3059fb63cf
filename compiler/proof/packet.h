// One packet as nf_tables sees it: real bytes, the devices it passes, and what conntrack says of
// it. What the interpreter walks through a ruleset; a proof's counterexample becomes one of these
// and can then be sent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/proof/ruleset.h"

namespace bulkhead::compiler::proof {

inline constexpr std::uint16_t kEtherIp = 0x0800, kEtherIp6 = 0x86dd, kEtherArp = 0x0806;

struct Device {
  std::string name;
  std::uint32_t index = 0;
  std::uint32_t group = 0;
  std::uint16_t type = 1;  // ARPHRD_*: 1 Ethernet, 772 loopback
};

struct Tuple {
  Value saddr = 0, daddr = 0;
  std::uint16_t sport = 0, dport = 0;
};

// Bits of ct status. Confirmed: a packet of the connection was accepted before this one.
inline constexpr std::uint32_t kStatusSeenReply = 0x02, kStatusConfirmed = 0x08, kStatusSnat = 0x10,
                               kStatusDnat = 0x20;

struct Connection {
  bool reply = false;  // this packet's direction
  std::uint32_t status = 0;
  std::uint32_t mark = 0;
  std::uint16_t zone = 0;
  std::uint8_t protocol = 0;
  Tuple original, answer;  // before any translation, and as the answer's packets come in
};

struct Packet {
  std::vector<std::uint8_t> link;      // Ethernet header with its tags; empty where there is none
  std::vector<std::uint8_t> bytes;     // from the network header on
  std::uint16_t ethertype = kEtherIp;  // of `bytes`, behind the tags
  std::optional<Device> in, out;
  std::optional<Device> port;  // of `in` where that is a VRF: sdif
  std::uint32_t mark = 0;
  std::uint32_t priority = 0;
  std::uint8_t type = 0;  // PACKET_*: 0 to us, 1 broadcast, 2 multicast, 3 other host
  std::optional<std::uint32_t> uid, gid;  // of the local socket that sent it
  std::uint8_t ct_state = kCtNew;         // kCtNew, ...; one of them
  std::optional<Connection> connection;   // none where invalid or untracked
};

// Where the transport header is. Nothing where the packet is no IP, or broken.
struct Transport {
  std::uint8_t protocol = 0;
  std::size_t offset = 0;  // in Packet::bytes
  bool later_fragment = false;
};
[[nodiscard]] std::optional<Transport> transport_of(const Packet& packet);

// Whether nf_tables reads that place of a transport header in a later fragment too, where there is
// none: it then takes the fragment's data for it (of IPv6 the fixed header). nft_payload.c
// refuses to, but aligned loads of 1, 2 and 4 bytes - ports, flags, ICMP types - go by a shorter
// way that does not ask (seen on kernel 6.18.44; conntrack puts fragments together before, and
// hides it).
[[nodiscard]] bool is_read_in_fragments(const Place& place);

// What nf_tables would load (kernel 6.18), with the operand's mask and flip; nothing where the load
// fails and so ends the rule. Fib queries are not answered here: nothing.
[[nodiscard]] std::optional<Value> read(const Packet& packet, const Operand& operand);

// Sets a field; checksums are left alone, as nothing reads them. False where it is not there, or is
// not a field that can be set.
bool write(Packet& packet, Selector selector, Value value);

[[nodiscard]] TableFamily family_of(const Packet& packet);  // Ip, Ip6 or Arp, by its ethertype

}  // namespace bulkhead::compiler::proof
