// What a capture sees of packets that nobody answers.
#include <gtest/gtest.h>

#include "probes/identity.h"
#include "probes/transports/transport.h"
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

// Neither rules about ports nor rules about SYNs say anything of these. Nobody answers; a kernel
// without the protocol says so, as a closed port would.
TEST_F(lab_agent_arrival, BareProtocolsAndLoneAcksArriveWithTheirToken) {
  pod_->rules(
      "table inet f {\nchain c {\n type filter hook forward priority 0; policy drop;\n"
      " iifname to_server accept\n"
      " meta l4proto { 47, 50, 132, 253 } accept\n tcp flags & syn != syn accept\n}\n}");
  for (const std::uint16_t protocol : {47, 50, 132, 253}) {
    listen_on(Transport::Raw, protocol);
    const auto tries = tries_to(Transport::Raw, protocol);
    exchange(tries);
    for (const DialTry& one : tries) {
      const Evidence seen = server_->only(one);
      EXPECT_EQ(seen.outcome, Outcome::PacketSeen);
      EXPECT_EQ(seen.token, to_hex(one.what.token));
      EXPECT_EQ(seen.tuple, one.what.tuple);
      if (protocol != 253)  // for experiments: no kernel has it
        continue;
      EXPECT_EQ(client_->only(one).outcome, Outcome::Refused) << client_->only(one).detail;
      EXPECT_EQ(client_->only(one).icmp_from, one.what.tuple.to);
    }
  }
  listen_on(Transport::Tcp, 7000);
  for (const std::uint16_t port : {7000, 7001}) {  // listened to or not
    auto tries = tries_to(Transport::Tcp, port);
    for (DialTry& one : tries)
      one.what.payload = compiler::Payload::LoneAck;
    exchange(tries);
    for (const DialTry& one : tries) {
      const Evidence seen = server_->only(one);
      EXPECT_EQ(seen.outcome, Outcome::PacketSeen);
      EXPECT_EQ(seen.token, to_hex(one.what.token));
      EXPECT_EQ(seen.tuple, one.what.tuple);
      EXPECT_EQ(client_->only(one).outcome, Outcome::Timeout) << client_->only(one).detail;
    }
  }
  for (const DialTry& syn : tries_to(Transport::Tcp, 7000)) {
    exchange({syn});
    EXPECT_TRUE(server_->of(syn).empty());
  }
}

// A denied packet that is for another host, by what all agents know of it: of a SYN four bytes.
// Here it is for nobody that this agent knows of.
TEST_F(lab_agent_arrival, ACopyForAnotherHostIsSeenOnce) {
  auto tries = tcp_and_udp_to(7001);
  std::vector<std::uint32_t> heads;
  for (const DialTry& one : tries)
    heads.push_back(initial_sequence(one.what.token));
  ASSERT_TRUE(server_->send(Expect{1, {}, heads}));
  const auto understood = server_->next(5s);
  ASSERT_TRUE(understood && std::holds_alternative<Expecting>(*understood));
  client_->dial(tries, 1500ms);  // a SYN is sent again after a second
  server_->collect();
  for (const DialTry& one : tries) {
    const bool tcp = one.what.transport == Transport::Tcp;
    std::vector<Evidence> seen;
    for (const Evidence& evidence : server_->evidence())
      if (evidence.tuple == one.what.tuple && evidence.end == End::Bystander)
        seen.push_back(evidence);
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_EQ(seen[0].outcome, tcp ? Outcome::SynSeen : Outcome::PacketSeen);
    EXPECT_EQ(seen[0].token, to_hex(one.what.token).substr(0, tcp ? 8 : 32));
    EXPECT_EQ(seen[0].interface, "eth0");
  }
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
