// How a dialer tells refusals, missing routes and silence apart.
#include <gtest/gtest.h>

#include "probes/identity.h"
#include "tests/lab/agent/fixture.h"

namespace bulkhead::test {
namespace {

class lab_agent_refusal : public AgentTest {};

// facts/field.md's table, and case D01: what a dialer sees is told apart as far as it can be.
TEST_F(lab_agent_refusal, RefusalsNameTheirSender) {
  pod_->rules(
      "table inet f {\nchain c {\n type filter hook forward priority 0; policy accept;\n"
      " tcp dport 7003 reject with tcp reset\n"
      " udp dport 7003 reject with icmpx type port-unreachable\n"
      " tcp dport 7004 reject with icmpx type admin-prohibited\n"
      " udp dport 7004 reject with icmpx type admin-prohibited\n"
      "}\n}");
  for (const int family : {0, 1}) {
    const char* from = kClient[family];
    const char* to = kServer[family];
    const auto closed_tcp = try_of(Transport::Tcp, from, to, 7002);
    const auto closed_udp = try_of(Transport::Udp, from, to, 7002);
    const auto reset_tcp = try_of(Transport::Tcp, from, to, 7003);
    const auto reject_udp = try_of(Transport::Udp, from, to, 7003);
    const auto prohibited_tcp = try_of(Transport::Tcp, from, to, 7004);
    const auto prohibited_udp = try_of(Transport::Udp, from, to, 7004);
    exchange({closed_tcp, closed_udp, reset_tcp, reject_udp, prohibited_tcp, prohibited_udp});

    EXPECT_EQ(client_->only(closed_tcp).outcome, Outcome::Refused);
    EXPECT_FALSE(client_->only(closed_tcp).icmp_from);
    EXPECT_TRUE(server_->saw(closed_tcp, Outcome::SynSeen));

    EXPECT_EQ(client_->only(closed_udp).outcome, Outcome::Refused);
    EXPECT_EQ(client_->only(closed_udp).icmp_from, address(to)) << "the host itself: path open";
    EXPECT_TRUE(server_->saw(closed_udp, Outcome::PacketSeen));

    EXPECT_EQ(client_->only(reset_tcp).outcome, Outcome::Refused) << "as by the host itself";
    EXPECT_TRUE(server_->of(reset_tcp).empty());

    EXPECT_EQ(client_->only(reject_udp).outcome, Outcome::Refused);
    EXPECT_EQ(client_->only(reject_udp).icmp_from, address(kRouter[family]));
    EXPECT_TRUE(server_->of(reject_udp).empty());

    for (const DialTry& one : {prohibited_tcp, prohibited_udp}) {
      const Evidence seen = client_->only(one);
      EXPECT_EQ(seen.outcome, Outcome::Unreachable) << to_json_line(seen);
      EXPECT_EQ(seen.icmp_from, address(kRouter[family]));
      EXPECT_EQ(seen.icmp_type, family == 0 ? 3 : 1);
      EXPECT_EQ(seen.icmp_code, family == 0 ? 13 : 1);
    }
  }
}

TEST_F(lab_agent_refusal, EchoErrorsNameTheirSender) {
  pod_->rules(
      "table inet f {\nchain c {\n type filter hook forward priority 0; policy accept;\n"
      " icmp type echo-request reject with icmp type admin-prohibited\n"
      " icmpv6 type echo-request reject with icmpv6 type admin-prohibited\n}\n}");
  const auto tries = tries_to(Transport::Icmp, 1);
  exchange(tries);
  for (const DialTry& one : tries) {
    const bool v4 = one.what.tuple.from.family == Family::V4;
    EXPECT_EQ(client_->only(one).outcome, Outcome::Unreachable);
    EXPECT_EQ(client_->only(one).icmp_from, address(kRouter[v4 ? 0 : 1]));
    EXPECT_EQ(client_->only(one).icmp_code, v4 ? 13 : 1);
  }
}

TEST_F(lab_agent_refusal, NoRouteIsToldFromUnreachable) {
  spoil_pod();
  pod_->run("client",
            "ip route del default; ip -6 route del default; "
            "ip route add 10.2.0.0/24 via 10.1.0.1; ip -6 route add fd02::/64 via fd01::1; "
            "ip route add prohibit 10.3.0.0/24");
  pod_->run("router", "ip route add unreachable 10.2.9.0/24; ip route del 10.2.0.0/24");
  const auto no_route = try_of(Transport::Tcp, kClient[0], "192.0.2.9", 80);
  const auto no_route6 = try_of(Transport::Udp, kClient[1], "2001:db8::9", 80);
  const auto no_route_echo = try_of(Transport::Icmp, kClient[0], "192.0.2.9", 1);
  const auto prohibited = try_of(Transport::Tcp, kClient[0], "10.3.0.9", 80);
  const auto from_router = try_of(Transport::Tcp, kClient[0], kServer[0], 80);
  const auto foreign_source = try_of(Transport::Tcp, "10.9.9.9", kServer[0], 80);
  exchange({no_route, no_route6, no_route_echo, prohibited, from_router, foreign_source});
  EXPECT_EQ(client_->only(no_route).outcome, Outcome::NoRoute);
  EXPECT_EQ(client_->only(no_route6).outcome, Outcome::NoRoute);
  EXPECT_EQ(client_->only(no_route_echo).outcome, Outcome::NoRoute);
  EXPECT_EQ(client_->only(prohibited).outcome, Outcome::NoRoute);
  const Evidence unreachable = client_->only(from_router);
  EXPECT_EQ(unreachable.outcome, Outcome::Unreachable);
  EXPECT_EQ(unreachable.icmp_from, address(kRouter[0]));
  EXPECT_EQ(unreachable.icmp_type, 3);
  EXPECT_EQ(unreachable.icmp_code, 0);
  EXPECT_EQ(client_->only(foreign_source).outcome, Outcome::SetupFailed);
}

// A neighbour that does not exist: the sender's own stack answers after 3 s (field.md).
TEST_F(lab_agent_refusal, AbsentDestinationIsUnreachableAfterThreeSeconds) {
  const auto one = try_of(Transport::Tcp, kClient[0], "10.1.0.99", 80);
  exchange({one}, 5000ms);
  const Evidence seen = client_->only(one);
  EXPECT_EQ(seen.outcome, Outcome::Unreachable);
  EXPECT_GT(seen.elapsed, 2500ms);
}

TEST_F(lab_agent_refusal, DroppedIsATimeout) {
  listen_on(Transport::Tcp, 7000);
  listen_on(Transport::Udp, 7000);
  pod_->rules(
      "table inet f {\nchain c {\n type filter hook forward priority 0; policy drop;\n}\n}");
  auto tries = tries_to(Transport::Tcp, 7000);
  for (const Transport transport : {Transport::Udp, Transport::Icmp}) {
    for (const DialTry& one : tries_to(transport, 7000))
      tries.push_back(one);
  }
  exchange(tries);
  for (const DialTry& one : tries) {
    EXPECT_EQ(client_->only(one).outcome, Outcome::Timeout);
    EXPECT_TRUE(server_->of(one).empty());
  }
}

TEST_F(lab_agent_refusal, DeadListenerIsRefusedNotBlocked) {
  listen_on(Transport::Tcp, 7000);
  const auto tries = tries_to(Transport::Tcp, 7000);
  server_->expect(tries);
  server_->kill();
  const auto word = server_->next(5s);
  ASSERT_FALSE(word);
  EXPECT_EQ(word.error().kind, ErrorKind::Environment);
  client_->dial(tries);
  for (const DialTry& one : tries)
    EXPECT_EQ(client_->only(one).outcome, Outcome::Refused);
}

// Case D13: transports are never fused.
TEST_F(lab_agent_refusal, UdpAloneIsBlocked) {
  listen_on(Transport::Tcp, 8472);
  listen_on(Transport::Udp, 8472);
  pod_->rules(
      "table inet f {\nchain c {\n type filter hook forward priority 0; policy accept;\n"
      " udp dport 8472 drop\n}\n}");
  const auto tcp = try_of(Transport::Tcp, kClient[0], kServer[0], 8472);
  const auto udp = try_of(Transport::Udp, kClient[0], kServer[0], 8472);
  exchange({tcp, udp});
  EXPECT_EQ(client_->only(tcp).outcome, Outcome::Answered);
  EXPECT_EQ(client_->only(udp).outcome, Outcome::Timeout);
  EXPECT_TRUE(server_->of(udp).empty());
}

// Case D09: an egress rule at the source blocks as well. Of UDP the sender's own kernel says so at
// once; the packet counts as sent, since a rule decided about it.
TEST_F(lab_agent_refusal, EgressRuleOfTheSourceBlocks) {
  listen_on(Transport::Tcp, 7000);
  listen_on(Transport::Udp, 7000);
  pod_->run("client",
            "nft 'table inet f { chain c { type filter hook output priority 0; policy accept; "
            "meta l4proto { tcp, udp } th dport 7000 drop; }; }'");
  const auto tries = tcp_and_udp_to(7000);
  exchange(tries);
  for (const DialTry& one : tries) {
    EXPECT_EQ(client_->only(one).outcome, Outcome::Timeout);
    EXPECT_TRUE(server_->of(one).empty());
  }
  EXPECT_EQ(client_->only(tries.back()).error, EPERM);
}

}  // namespace
}  // namespace bulkhead::test
