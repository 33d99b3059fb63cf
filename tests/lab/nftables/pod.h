// Three hosts around the enforcer, the site of most traffic tests.
#pragma once

#include "net.h"
#include "sketch.h"

namespace bulkhead::test {

// red 10.1.0.11, .12 and fd00:1::11; blue 10.2.0.11 and fd00:2::11; stor 10.3.0.11 (IPv4 only).
inline Sketch pod_sketch() {
  Sketch s;
  s.leg("red0", {"10.1.0.1/24", "fd00:1::1/64"})
      .leg("blue0", {"10.2.0.1/24", "fd00:2::1/64"})
      .leg("stor0", {"10.3.0.1/24"})
      .cls("red.compute", "red0", {"10.1.0.11-10.1.0.12", "fd00:1::11"})
      .cls("blue.compute", "blue0", {"10.2.0.11", "fd00:2::11"})
      .cls("stor.nfs", "stor0", {"10.3.0.11"});
  return s;
}

class Pod {
 public:
  Pod(const std::string& name, const Sketch& sketch) : net(name) {
    net.host("red", "red0", {"10.1.0.1/24", "fd00:1::1/64"},
             {"10.1.0.11/24", "10.1.0.12/24", "10.1.0.99/24", "fd00:1::11/64"});
    net.host("blue", "blue0", {"10.2.0.1/24", "fd00:2::1/64"}, {"10.2.0.11/24", "fd00:2::11/64"});
    net.host("stor", "stor0", {"10.3.0.1/24"}, {"10.3.0.11/24"});
    wrong = net.load(sketch.nft());
  }
  // The line of the listing that holds `what`, for counters.
  [[nodiscard]] std::string listed(const std::string& what) const {
    return net.output("fw", "nft list table inet bulkhead | grep -F -- '" + what + "'");
  }
  [[nodiscard]] bool passes(const std::string& from, const std::string& to,
                            const Packet& packet) const {
    return net.arrives(from, to, packet);
  }

  Net net;
  std::string wrong;  // what nft said of the ruleset
};

inline Packet udp_packet(const std::string& from, const std::string& to, std::uint16_t dport,
                         std::uint16_t sport = 40000) {
  Packet packet;
  packet.from = from;
  packet.to = to;
  packet.dport = dport;
  packet.sport = sport;
  packet.payload = "bulkhead";
  return packet;
}
inline Packet tcp_syn(const std::string& from, const std::string& to, std::uint16_t dport) {
  Packet packet = udp_packet(from, to, dport);
  packet.protocol = 6;
  packet.payload.clear();
  return packet;
}
inline Packet echo_request(const std::string& from, const std::string& to) {
  Packet packet;
  packet.from = from;
  packet.to = to;
  const bool v6 = from.find(':') != std::string::npos;
  packet.protocol = v6 ? 58 : 1;
  packet.icmp_type = v6 ? 128 : 8;
  packet.payload = std::string("\0\7\0\1", 4) + "bulkhead";
  return packet;
}

}  // namespace bulkhead::test
