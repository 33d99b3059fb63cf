#include "nft_cases.h"

namespace bulkhead::test {

namespace {

Sketch two_tenants() {
  Sketch s;
  s.leg("red0", {"10.1.0.1/24", "fd00:1::1/64"})
      .leg("blue0", {"10.2.0.1/24", "fd00:2::1/64"})
      .leg("stor0", {"10.3.0.1/24"})
      .cls("red.compute", "red0", {"10.1.0.11-10.1.0.14", "fd00:1::11"})
      .cls("blue.compute", "blue0", {"10.2.0.11", "fd00:2::11"})
      .cls("stor.nfs", "stor0", {"10.3.0.11"})
      .allow("F1", "red.compute", "stor.nfs", {tcp(2049), icmp("echo")})
      .allow("F1", "blue.compute", "stor.nfs", {tcp(2049), icmp("echo")})
      .allow("F2", "red.compute", "blue.compute", {tcp(22), icmp("echo")})
      .deny("F3", "blue.compute", "red.compute", {tcp(22)});
  return s;
}

// Nine pieces and more are a map; with a range among them, an interval map.
Sketch many_ports() {
  Sketch s = two_tenants();
  for (std::uint16_t port = 1; port <= 9; ++port)
    s.allow("P" + std::to_string(port), "red.compute", "blue.compute",
            {tcp(static_cast<std::uint16_t>(1000 + 2 * port))});
  for (std::uint16_t port = 1; port <= 9; ++port)
    s.allow("R" + std::to_string(port), "blue.compute", "red.compute",
            {udp(static_cast<std::uint16_t>(2000 + 10 * port),
                 static_cast<std::uint16_t>(2005 + 10 * port))});
  s.deny("D1", "blue.compute", "red.compute", {udp(2007)});
  return s;
}

Sketch roce_one_way() {
  Sketch s = two_tenants();
  s.allow("R1", "red.compute", "blue.compute", {roce()})
      .deny("R2", "stor.nfs", "red.compute", {roce()})
      .allow("R3", "red.compute", "stor.nfs", {roce()});
  return s;
}

Sketch enforcer_as_class() {
  Sketch s = two_tenants();
  s.members({"fw-a", "fw-b"})
      .allow("E1", "red.compute", "enforcer:fw",
             {tcp(22), dhcp(), ip(112, "224.0.0.18"), ip(89, "ff02::5"), icmp("echo")})
      .allow("E2", "enforcer:fw", "stor.nfs", {udp(123), icmp("echo")})
      .allow("E3", "enforcer:fw", "red.compute", {ip(112, "224.0.0.18")})
      .allow("E4", "enforcer:fw", "enforcer:fw", {ip(112, "224.0.0.18"), ip(112, "ff02::12")})
      .allow("E5", "blue.compute", "stor.nfs", {ip(50), ip(47)});
  return s;
}

// The same addresses in two VRFs, and an outside that is everything else.
Sketch overlapping_vrfs() {
  Sketch s;
  s.leg("red0", {"10.1.0.1/24"}, "red")
      .leg("red1", {"10.2.0.1/24"}, "red")
      .leg("blue0", {"10.1.0.1/24"}, "blue")
      .leg("blue1", {"10.2.0.1/24"}, "blue")
      .leg("wan0", {"203.0.113.2/29"})
      .cls("red-a", "red0", {"10.1.0.11"})
      .cls("red-b", "red1", {"10.2.0.11"})
      .cls("blue-a", "blue0", {"10.1.0.11"})
      .cls("blue-b", "blue1", {"10.2.0.11"})
      .cls("external:world", "wan0", {"0.0.0.0-9.255.255.255", "11.0.0.0-255.255.255.255", "::/0"})
      .allow("V1", "red-a", "red-b", {tcp(80)})
      .deny("V2", "red-a", "blue-b", {tcp(80)})
      .allow("V3", "blue-a", "blue-b", {tcp(81)});
  return s;
}

// Behind one transit leg: two open segments that meet in the enforcer only by way of it.
Sketch transit() {
  Sketch s;
  s.leg("lan0", {"10.1.0.1/24"})
      .leg("transit0", {"172.16.0.1/30"})
      .cls("near", "lan0", {"10.1.0.0/24"})
      .cls("far.a", "transit0", {"10.8.0.0/24"})
      .cls("far.b", "transit0", {"10.9.0.0-10.9.0.9"})
      .inside_open("near", "far.a")
      .inside_open("far.a", "near")
      .allow("T1", "near", "far.b", {tcp(443)});
  return s;
}

// Words of nft's grammar, digits first, and names that cleaning makes equal.
Sketch keywords() {
  Sketch s;
  s.leg("vlan", {"10.0.0.1/16"}).leg("fwd", {"10.1.0.1/16"}).leg("fw-d", {"10.2.0.1/16"});
  constexpr std::string_view kWords[] = {"fwd",    "mark",  "log",     "vlan",    "ip",   "ct",
                                         "queue",  "limit", "counter", "comment", "size", "flags",
                                         "policy", "type",  "hook",    "1abc",    "src",  "dst",
                                         "a-b",    "a_b",   "a.b",     "a+b"};
  int n = 1;
  for (const auto word : kWords) {
    const std::string host = "10.0." + std::to_string(n++) + ".1";
    s.cls(std::string(word), "vlan", {host})
        .allow("K-" + std::to_string(n), std::string(word), "target", {tcp(80)});
  }
  s.cls("target", "fwd", {"10.1.0.1"}).cls("policy.accept", "fw-d", {"10.2.0.5"});
  return s;
}

}  // namespace

const std::vector<NftCase>& nft_cases() {
  static const std::vector<NftCase> kCases{
      {"two-tenants", two_tenants},
      {"many-ports", many_ports},
      {"roce-one-way", roce_one_way},
      {"enforcer-as-class", enforcer_as_class},
      {"overlapping-vrfs", overlapping_vrfs},
      {"transit", transit},
      {"keywords", keywords},
  };
  return kCases;
}

}  // namespace bulkhead::test
