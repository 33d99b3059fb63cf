// Faults that people reported in public, as rulesets that the kernel lists and the interpreter
// walks. The names are the cases' ids.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/proof/interpret.h"
#include "compiler/proof/packet_bytes.h"
#include "compiler/proof/ruleset_json.h"
#include "enforcement/backends/nft_sandbox.h"
#include "kernel.h"

namespace bulkhead::test {

namespace {

using namespace compiler::proof;

class Handed : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = Kernel::missing(); !missing.empty())
      GTEST_SKIP() << missing;
  }

  // nft 1.0.6 wants a line's end before the brace that closes a block, and behind it.
  static std::string on_lines(std::string nft) {
    for (const char* where : {" }", " chain", " table"})
      for (std::size_t at = 0; (at = nft.find(where, at)) != std::string::npos; at += 2)
        if (where[1] == '}' || nft[at - 1] == '}')
          nft[at] = '\n';
    return nft;
  }
  // Loaded by the kernel and listed back; a failure fails the test.
  static Ruleset listed(const std::string& nft, const std::vector<std::string>& interfaces = {}) {
    const auto listing = enforcement::list_in_sandbox(on_lines(nft), interfaces);
    EXPECT_TRUE(listing) << (listing ? "" : listing.error().message);
    const auto ruleset = parse_ruleset(listing ? listing->json : std::string());
    EXPECT_TRUE(ruleset) << (ruleset ? "" : ruleset.error().message);
    return ruleset ? *ruleset : Ruleset();
  }
  static std::string refused(const std::string& nft) {
    const auto listing = enforcement::list_in_sandbox(on_lines(nft), {});
    return listing ? "loaded" : listing.error().message;
  }

  static PacketFacts tcp(const std::string& from, const std::string& to, std::uint16_t port) {
    PacketFacts facts;
    facts.from = *Address::parse(from);
    facts.to = *Address::parse(to);
    facts.protocol = 6;
    facts.dport = port;
    return facts;
  }
  static PacketFacts udp(const std::string& from, const std::string& to, std::uint16_t port) {
    PacketFacts facts = tcp(from, to, port);
    facts.protocol = 17;
    return facts;
  }
  static PacketFacts icmp(const std::string& from, const std::string& to, std::uint8_t type) {
    PacketFacts facts = tcp(from, to, 0);
    facts.protocol = facts.from.family == Family::V4 ? 1 : 58;
    facts.icmp_type = type;
    return facts;
  }

  static Packet packet_of(const PacketFacts& facts, std::uint8_t state = kCtNew) {
    Packet packet;
    packet.bytes = bytes_of(facts);
    packet.ethertype = facts.from.family == Family::V4 ? kEtherIp : kEtherIp6;
    packet.in = Device{"ra", 5, 0, 1};
    packet.out = Device{"rb", 6, 0, 1};
    packet.ct_state = state;
    if (state == kCtInvalid || state == kCtUntracked)
      return packet;
    Connection connection;
    connection.protocol = facts.protocol;
    connection.original = {to_value(facts.from), to_value(facts.to), facts.sport, facts.dport};
    connection.answer = {to_value(facts.to), to_value(facts.from), facts.dport, facts.sport};
    packet.connection = connection;
    return packet;
  }
  // The answer to a packet that went from A to B.
  static Packet answer_of(PacketFacts facts) {
    Packet packet = packet_of(facts, kCtEstablished);
    packet.connection->reply = true;
    std::swap(facts.from, facts.to);
    std::swap(facts.sport, facts.dport);
    facts.tcp_flags = 0x12;
    packet.bytes = bytes_of(facts);
    std::swap(packet.in, packet.out);
    return packet;
  }

  static Outcome forwarded(const Ruleset& ruleset, const Packet& packet) {
    return interpret(ruleset, packet, forward_way(family_of(packet))).outcome;
  }
  static Outcome forwarded(const Ruleset& ruleset, const PacketFacts& facts) {
    return forwarded(ruleset, packet_of(facts));
  }
  static Outcome received(const Ruleset& ruleset, const Packet& packet) {
    return interpret(ruleset, packet, input_way(family_of(packet))).outcome;
  }

  static constexpr const char *kA4 = "10.1.0.2", *kB4 = "10.2.0.2";
  static constexpr const char *kA6 = "fd01::2", *kB6 = "fd02::2";
};

TEST_F(Handed, A01_AcceptEndsOnlyItsOwnChain) {
  const Ruleset ruleset = listed(R"(
    table inet forwarder {
      chain forward { type filter hook forward priority -25; policy accept; tcp dport 80 accept; }
    }
    table ip admin {
      chain forward { type filter hook forward priority 0; policy drop; ct state established accept; }
    })");
  EXPECT_EQ(forwarded(ruleset, tcp(kA4, kB4, 80)), Outcome::Drop);
  EXPECT_EQ(forwarded(ruleset, tcp(kA6, kB6, 80)), Outcome::Accept);
}

TEST_F(Handed, A04_ForwardSeesTranslatedPorts) {
  const std::string nat = R"(
    table ip nat {
      chain pre { type nat hook prerouting priority dstnat; ip daddr 10.1.0.1 tcp dport 8080 dnat to 10.2.0.2:80; }
    })";
  const auto forward = [&](const std::string& rule) {
    return listed(nat + " table ip filter { chain forward { type filter hook forward priority 0; " +
                  rule + "; } }");
  };
  const PacketFacts published = tcp(kA4, "10.1.0.1", 8080);
  EXPECT_EQ(forwarded(forward("tcp dport 8080 drop"), published), Outcome::Accept);
  EXPECT_EQ(forwarded(forward("tcp dport 80 drop"), published), Outcome::Drop);
  EXPECT_EQ(forwarded(forward("ip daddr 10.2.0.2 drop"), published), Outcome::Drop);
  EXPECT_EQ(forwarded(forward("meta l4proto tcp ct original proto-dst 8080 drop"), published),
            Outcome::Drop);
}

TEST_F(Handed, A07_PortsOfOneBridgeAreMetByBridgeChains) {
  const Packet packet = packet_of(tcp("10.9.0.2", "10.9.0.3", 80));
  const Station bridge[] = {{TableFamily::Bridge, Hook::Forward}};
  const Station bridge_with_netfilter[] = {{TableFamily::Bridge, Hook::Forward},
                                           {TableFamily::Ip, Hook::Forward}};
  const Ruleset inet =
      listed("table inet t { chain f { type filter hook forward priority 0; policy drop; } }");
  EXPECT_EQ(interpret(inet, packet, bridge).outcome, Outcome::Accept);
  EXPECT_EQ(interpret(inet, packet, bridge_with_netfilter).outcome, Outcome::Drop);
  const Ruleset bridged =
      listed("table bridge t { chain f { type filter hook forward priority 0; policy drop; } }");
  EXPECT_EQ(interpret(bridged, packet, bridge).outcome, Outcome::Drop);
}

TEST_F(Handed, A09_DefaultDropEndsNeighbourDiscovery) {
  const auto input = [&](const std::string& rule) {
    return listed(
        "table inet t { chain i { type filter hook input priority 0; policy drop; "
        "ct state established accept; " +
        rule + " } }");
  };
  PacketFacts solicit = icmp(kA6, "fd01::1", 135);
  solicit.hop_limit = 255;
  const Packet packet = packet_of(solicit, kCtUntracked);
  EXPECT_EQ(received(input(""), packet), Outcome::Drop);
  const std::string rule =
      "icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } ip6 hoplimit 255 accept;";
  EXPECT_EQ(received(input(rule), packet), Outcome::Accept);
  solicit.hop_limit = 64;  // forwarded from elsewhere
  EXPECT_EQ(received(input(rule), packet_of(solicit, kCtUntracked)), Outcome::Drop);
}

TEST_F(Handed, A11_NextHeaderIsNotTheTransport) {
  const auto forward = [&](const std::string& match) {
    return listed("table inet t { chain f { type filter hook forward priority 0; policy drop; " +
                  match + " accept; } }");
  };
  PacketFacts echo = icmp(kA6, kB6, 128);
  EXPECT_EQ(forwarded(forward("ip6 nexthdr ipv6-icmp"), echo), Outcome::Accept);
  echo.destination_options = true;
  EXPECT_EQ(forwarded(forward("ip6 nexthdr ipv6-icmp"), echo), Outcome::Drop);
  EXPECT_EQ(forwarded(forward("meta l4proto ipv6-icmp"), echo), Outcome::Accept);
}

TEST_F(Handed, A13_LaterFragmentsHaveNoPorts) {
  const Ruleset stateless = listed(R"(
    table ip t { chain f { type filter hook forward priority 0; policy drop; udp dport 80 accept; } })");
  PacketFacts fragment = udp(kA4, kB4, 80);
  fragment.payload.assign(64, 0);
  EXPECT_EQ(forwarded(stateless, fragment), Outcome::Accept);
  fragment.fragment = Fragment{0, true};
  EXPECT_EQ(forwarded(stateless, fragment), Outcome::Accept);
  fragment.fragment = Fragment{9, false};
  EXPECT_EQ(forwarded(stateless, fragment), Outcome::Drop);
  // But what is where the port would be is taken for it: data can open the rule.
  fragment.payload[3] = 80;
  EXPECT_EQ(forwarded(stateless, fragment), Outcome::Accept);
}

TEST_F(Handed, A15_OverlappingPrefixes) {
  const std::string both = "{ 5.188.10.0/23, 5.188.11.0/24 }";
  EXPECT_NE(
      refused("table ip t { set s { type ipv4_addr; flags interval; elements = " + both + "; } }")
          .find("does not load"),
      std::string::npos);
  const Ruleset merged = listed(
      "table ip t { chain f { type filter hook forward priority 0; "
      "ip saddr " +
      both + " drop; } }");
  EXPECT_EQ(forwarded(merged, tcp("5.188.11.7", kB4, 80)), Outcome::Drop);
  EXPECT_EQ(forwarded(merged, tcp("5.188.12.7", kB4, 80)), Outcome::Accept);
}

TEST_F(Handed, A19_AnInterfaceIndexThatIsGone) {
  EXPECT_NE(refused("table ip t { chain f { iif \"ra\" drop; } }"), "loaded");
  const std::string nft =
      "table ip t { chain f { type filter hook forward priority 0; iif \"ra\" drop; } }";
  EXPECT_EQ(forwarded(listed(nft, {"ra"}), tcp(kA4, kB4, 80)), Outcome::Drop);
  const Ruleset dead =
      listed("table ip t { chain f { type filter hook forward priority 0; iif 77 drop; } }");
  EXPECT_EQ(forwarded(dead, tcp(kA4, kB4, 80)), Outcome::Accept);
  EXPECT_EQ(dead.chains[0].rules[0].dead_interfaces, std::vector<std::string>{"77"});
}

TEST_F(Handed, A24_HalfOfAFlow) {
  const Ruleset half = listed(R"(
    table inet t {
      chain f { type filter hook forward priority 0; policy drop; iifname "ra" tcp dport 80 accept; }
    })");
  const PacketFacts request = tcp(kA4, kB4, 80);
  EXPECT_EQ(forwarded(half, request), Outcome::Accept);
  EXPECT_EQ(forwarded(half, answer_of(request)), Outcome::Drop);
}

TEST_F(Handed, A26_KeywordsAreNoNames) {
  for (const std::string name : {"fwd", "mark", "log", "vlan", "ct", "queue", "1abc"})
    EXPECT_NE(refused("table inet t { chain " + name + " { } }"), "loaded") << name;
}

TEST_F(Handed, A28_HostBitsAreWidened) {
  const Ruleset ruleset = listed(
      "table ip t { chain f { type filter hook forward priority 0; "
      "ip saddr { 10.1.2.3/8 } drop; } }");
  EXPECT_EQ(forwarded(ruleset, tcp("10.200.0.1", kB4, 80)), Outcome::Drop);
}

TEST_F(Handed, A31_WhatIsNotListedIsUnknown) {
  const Ruleset ruleset = *parse_ruleset(R"({"nftables": [
    {"metainfo": {"json_schema_version": 1}},
    {"table": {"family": "ip", "name": "t"}},
    {"chain": {"family": "ip", "table": "t", "name": "f", "type": "filter", "hook": "forward",
               "prio": 0, "policy": "drop"}},
    {"rule": {"family": "ip", "table": "t", "chain": "f", "handle": 4}}]})");
  EXPECT_EQ(forwarded(ruleset, tcp(kA4, kB4, 80)), Outcome::Unknown);
}

TEST_F(Handed, A33_TheLastOfTwoLoadsOfOneTable) {
  const auto of_family = [](const std::string& match) {
    return "table inet t\ndelete table inet t\ntable inet t { chain f { type filter hook forward "
           "priority 0; policy drop; " +
           match + " accept; } }\n";
  };
  const Ruleset ruleset =
      listed(of_family("ip saddr 10.1.0.0/16") + of_family("ip6 saddr fd01::/64"));
  EXPECT_EQ(forwarded(ruleset, tcp(kA4, kB4, 80)), Outcome::Drop);
  EXPECT_EQ(forwarded(ruleset, tcp(kA6, kB6, 80)), Outcome::Accept);
}

TEST_F(Handed, B04_TheSecondPassThroughAVrf) {
  // The second pass of a packet through a VRF's device: the first rule has no port to match.
  const Ruleset ruleset = listed(R"(
    table ip t {
      chain pre { type filter hook prerouting priority -150; policy accept;
        iifname "ra" tcp dport 22 accept
        drop
      }
    })");
  Packet packet = packet_of(tcp(kA4, kB4, 22));
  EXPECT_EQ(forwarded(ruleset, packet), Outcome::Accept);
  packet.in = Device{"red", 9, 0, 1};
  EXPECT_EQ(forwarded(ruleset, packet), Outcome::Drop);
}

TEST_F(Handed, B12_LoopbackFromOutside) {
  const auto input = [&](const std::string& rule) {
    return listed("table inet t { chain i { type filter hook input priority 0; " + rule + " } }");
  };
  const Packet packet = packet_of(tcp(kA4, "127.0.0.1", 6000));
  EXPECT_EQ(received(input(""), packet), Outcome::Accept);
  EXPECT_EQ(received(input("iifname != \"lo\" ip daddr 127.0.0.0/8 drop;"), packet), Outcome::Drop);
}

TEST_F(Handed, B18_IsolationAndPermissionAreBothAsked) {
  const Ruleset ruleset = listed(R"(
    table inet isolation {
      chain f { type filter hook forward priority 0; policy accept; ip saddr 10.98.0.0/16 drop
        accept
      }
    }
    table inet permission {
      chain f { type filter hook forward priority 10; policy drop; tcp dport 22 accept; }
    })");
  EXPECT_EQ(forwarded(ruleset, tcp(kA4, "10.99.1.4", 22)), Outcome::Accept);
  EXPECT_EQ(forwarded(ruleset, tcp(kA4, "10.99.1.4", 9999)), Outcome::Drop);
  EXPECT_EQ(forwarded(ruleset, tcp("10.98.0.1", "10.99.1.4", 22)), Outcome::Drop);
}

TEST_F(Handed, D09_BothDirectionsOfTheRules) {
  const Ruleset ruleset = listed(R"(
    table inet t {
      chain egress { type filter hook prerouting priority -150; policy drop; udp dport 53 accept; }
      chain ingress { type filter hook forward priority 0; policy drop; ip saddr 10.1.0.2 accept; }
    })");
  EXPECT_EQ(forwarded(ruleset, tcp(kA4, kB4, 80)), Outcome::Drop);
  EXPECT_EQ(forwarded(ruleset, udp(kA4, kB4, 53)), Outcome::Accept);
}

TEST_F(Handed, E12_ARuleBehindTheReject) {
  const Ruleset ruleset = listed(R"(
    table inet t {
      chain f { type filter hook forward priority 0; policy accept; reject
        tcp dport 22 drop
      }
    })");
  EXPECT_EQ(forwarded(ruleset, tcp(kA4, kB4, 22)), Outcome::Reject);
}

TEST_F(Handed, E14_AKeyOfOtherPartsThanItsSet) {
  const std::string set =
      "set db { type ipv4_addr . inet_service; elements = { 10.2.0.2 . 5432 }; } ";
  const auto rule = [&](const std::string& key) {
    return "table inet t { " + set + "chain f { type filter hook forward priority 0; " + key +
           " @db drop; } }";
  };
  EXPECT_NE(refused(rule("tcp dport")), "loaded");
  EXPECT_EQ(forwarded(listed(rule("ip saddr . tcp dport")), tcp(kA4, kB4, 5432)), Outcome::Accept);
  EXPECT_EQ(forwarded(listed(rule("ip daddr . tcp dport")), tcp(kA4, kB4, 5432)), Outcome::Drop);
}

TEST_F(Handed, E16_OnePortTwoProtocols) {
  const Ruleset ruleset = listed(R"(
    table inet t {
      map dns { type ipv4_addr . inet_proto . inet_service : verdict
        elements = { 10.1.0.2 . tcp . 53 : accept, 10.1.0.2 . udp . 53 : accept, 10.1.0.3 . tcp . 53 : accept }
      }
      chain f { type filter hook forward priority 0; policy drop;
        ip saddr . meta l4proto . th dport vmap @dns
      }
    })");
  EXPECT_EQ(forwarded(ruleset, tcp("10.1.0.2", kB4, 53)), Outcome::Accept);
  EXPECT_EQ(forwarded(ruleset, udp("10.1.0.2", kB4, 53)), Outcome::Accept);
  EXPECT_EQ(forwarded(ruleset, tcp("10.1.0.3", kB4, 53)), Outcome::Accept);
  EXPECT_EQ(forwarded(ruleset, udp("10.1.0.3", kB4, 53)), Outcome::Drop);
}

TEST_F(Handed, E18_TheDefaultDenyIsReached) {
  const Ruleset ruleset = listed(R"(
    table inet t {
      chain f { type filter hook forward priority 0; policy drop; tcp dport 22 accept
        ip saddr 10.0.0.0/8 tcp dport 22 drop
      }
    })");
  EXPECT_EQ(forwarded(ruleset, tcp(kA4, kB4, 22)), Outcome::Accept);
  EXPECT_EQ(forwarded(ruleset, udp(kA4, kB4, 22)), Outcome::Drop);
}

TEST_F(Handed, E20_IcmpOfOneFamily) {
  const Ruleset ruleset = listed(R"(
    table inet t {
      chain f { type filter hook forward priority 0; policy drop; icmp type echo-request accept; }
    })");
  EXPECT_EQ(forwarded(ruleset, icmp(kA4, kB4, 8)), Outcome::Accept);
  EXPECT_EQ(forwarded(ruleset, icmp(kA6, kB6, 128)), Outcome::Drop);
}

}  // namespace

}  // namespace bulkhead::test
