// What may flow between two classes, in a normal form that compile, proof and probes share: a set
// of disjoint pieces per kind of traffic. Kinds never mix: tcp 53 and udp 53 are different pieces.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/support/address.h"
#include "policy/support/interval_set.h"

namespace bulkhead::policy {

enum class Kind : std::uint8_t {
  Tcp,   // ports: destination ports
  Udp,   // ports: destination ports; never 4791, which is Roce
  Sctp,  // ports: destination ports
  Icmp,  // ports: rows of kIcmpQueries, both families by one name
  Ip,    // `protocol` with an optional multicast or broadcast `group` as destination; ports: {0,0}
  Dhcp,  // DHCP and DHCPv6, client or relay to server; ports: {0,0}
  Roce,  // RoCEv2, UDP 4791, requests in the flow's direction; ports: {0,0}
  Ib,    // verbs over InfiniBand; ports: {0,0}
  GpuDirect,  // an Ib or Roce flow proven in GPU memory; ports: {0,0}
};
[[nodiscard]] std::string_view to_string(Kind kind);
[[nodiscard]] constexpr bool has_ports(Kind kind) {
  return kind == Kind::Tcp || kind == Kind::Udp || kind == Kind::Sctp;
}

struct TrafficKey {
  Kind kind = Kind::Tcp;
  std::uint8_t protocol = 0;     // Kind::Ip only: IANA protocol number
  std::optional<Address> group;  // Kind::Ip only
  auto operator<=>(const TrafficKey&) const = default;
};

// One term of a service: tcp ports 6800-7300, icmp echo, ...
struct Traffic {
  TrafficKey key;
  PortSet ports;
  auto operator<=>(const Traffic&) const = default;
};
// "tcp 22", "tcp 6800-7300", "icmp echo", "ip 112 to 224.0.0.18", "roce"
[[nodiscard]] std::string to_string(const Traffic& traffic);

inline constexpr std::uint16_t kRocePort = 4791;  // IBTA annex A17

// ICMP that starts an exchange. Errors are not here: they pass as related to an allowed flow.
struct IcmpQuery {
  std::string_view name;
  std::optional<std::uint8_t> v4_type;  // RFC 792
  std::optional<std::uint8_t> v6_type;  // RFC 4443
};
inline constexpr IcmpQuery kIcmpQueries[] = {
    {"echo", 8, 128},
    {"timestamp", 13, std::nullopt},
    {"address-mask", 17, std::nullopt},
};

}  // namespace bulkhead::policy
