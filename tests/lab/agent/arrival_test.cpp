// What a capture sees of packets that nobody answers.
#include <gtest/gtest.h>

#include "probes/identity.h"
#include "tests/lab/agent/fixture.h"

namespace bulkhead::test {
namespace {

class lab_agent_arrival : public AgentTest {};

// A rule that reads ports without reassembly passes the first fragment and drops the rest: the
// small datagram arrives, of the large one only the first fragment does (case A13).
TEST_F(lab_agent_arrival, OnlyTheFirstFragmentArrives) {
  listen_on(Transport::Udp, 7000);
  pod_->rules(
      "table ip f {\nchain c {\n type filter hook forward priority 0; policy drop;\n"
      " udp dport 7000 accept\n udp sport 7000 accept\n}\n}");
  const auto small = try_of(Transport::Udp, kClient[0], kServer[0], 7000);
  const auto large = try_of(Transport::Udp, kClient[0], kServer[0], 7000, 4000);
  exchange({small, large});
  EXPECT_EQ(client_->only(small).outcome, Outcome::Answered);
  EXPECT_EQ(client_->only(large).outcome, Outcome::Timeout);
  EXPECT_EQ(server_->only(large).outcome, Outcome::PacketSeen);
}

// One-way arrival is a leak, though the client sees nothing but a timeout.
TEST_F(lab_agent_arrival, SynIsSeenThoughTheReturnPathDrops) {
  listen_on(Transport::Tcp, 7000);
  pod_->rules(
      "table inet f {\nchain c {\n type filter hook forward priority 0; policy accept;\n"
      " iifname to_server meta l4proto tcp drop\n}\n}");
  const auto tries = tries_to(Transport::Tcp, 7000);
  exchange(tries);
  for (const DialTry& one : tries) {
    EXPECT_EQ(client_->only(one).outcome, Outcome::Timeout);
    const Evidence seen = server_->only(one);
    EXPECT_EQ(seen.outcome, Outcome::SynSeen);
    EXPECT_EQ(seen.token, to_hex(one.what.token));
  }
}

// The capture sits before the host's own firewall, and needs no listener (case D03).
TEST_F(lab_agent_arrival, SynIsSeenWhereNobodyListensAndTheHostDrops) {
  pod_->run("server",
            "nft 'table inet f { chain c { type filter hook input priority 0; policy drop; "
            "icmpv6 type { 135, 136 } accept; }; }'");
  const auto tries = tcp_and_udp_to(7001);
  exchange(tries);
  for (const DialTry& one : tries) {
    EXPECT_EQ(client_->only(one).outcome, Outcome::Timeout);
    EXPECT_TRUE(server_->saw(
        one, one.what.transport == Transport::Tcp ? Outcome::SynSeen : Outcome::PacketSeen));
  }
}

// A foreign NAT changes the 5-tuple; the SYN is still known by its sequence number.
TEST_F(lab_agent_arrival, SynIsKnownBehindANat) {
  pod_->rules(
      "table ip n {\nchain c {\n type nat hook postrouting priority 100;\n"
      " oifname to_server masquerade\n}\n"
      "chain f {\n type filter hook forward priority 0;\n iifname to_server drop\n}\n}");
  const auto one = try_of(Transport::Tcp, kClient[0], kServer[0], 7001);
  exchange({one});
  const Evidence seen = server_->only(one);
  EXPECT_EQ(seen.outcome, Outcome::SynSeen);
  EXPECT_EQ(seen.tuple.from, address("10.2.0.1"));
  EXPECT_EQ(seen.token, to_hex(one.what.token));
}

TEST_F(lab_agent_arrival, RoceTemplatesCarryTheTokenBehindTheirHeader) {
  auto request = try_of(Transport::Udp, kClient[0], kServer[0], 4791);
  request.what.payload = compiler::Payload::RoceRequest;
  auto acknowledge = try_of(Transport::Udp, kClient[1], kServer[1], 4791);
  acknowledge.what.payload = compiler::Payload::RoceAcknowledge;
  pod_->rules(
      "table inet f {\nchain c {\n type filter hook forward priority 0; policy accept;\n"
      " udp dport 4791 @th,64,8 0x04 counter comment \"request\"\n"
      " udp dport 4791 @th,64,8 0x11 counter comment \"acknowledge\"\n}\n}");
  listen_on(Transport::Udp, 4791);
  exchange({request, acknowledge});
  for (const DialTry& one : {request, acknowledge}) {
    EXPECT_TRUE(server_->saw(one, Outcome::TokenSeen));
    EXPECT_EQ(client_->only(one).outcome, Outcome::Timeout) << "no answer is due";
  }
  const std::string listing = pod_->run("router", "nft list table inet f");
  EXPECT_EQ(listing.find("packets 0"), std::string::npos) << listing;
}

}  // namespace
}  // namespace bulkhead::test
