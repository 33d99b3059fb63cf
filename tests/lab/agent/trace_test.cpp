// What an enforcer's agent makes of nft trace events.
#include <gtest/gtest.h>

#include "tests/lab/agent/fixture.h"

namespace bulkhead::test {
namespace {

class lab_agent_trace : public AgentTest {};

constexpr const char* kRuleset =
    "table inet bulkhead {\n"
    "chain forward {\n type filter hook forward priority 0; policy drop;\n"
    " ct state established accept\n"
    " ip saddr 10.1.0.0/24 jump c_client\n"
    " ip6 saddr fd01::/64 jump c_client\n}\n"
    "chain c_client {\n"
    " th dport 7000 accept\n"
    " meta l4proto { icmp, ipv6-icmp } accept\n"
    " th dport 7001 drop comment \"R7\"\n"
    " th dport 7002 reject comment \"R8\"\n}\n}";

TEST_F(lab_agent_trace, TraceTellsTheLastWord) {
  pod_->rules(kRuleset);
  trace();
  listen_on(Transport::Tcp, 7000);
  listen_on(Transport::Udp, 7000);
  for (const Transport transport : {Transport::Tcp, Transport::Udp}) {
    const auto allowed = tries_to(transport, 7000);
    const auto dropped = tries_to(transport, 7001);
    const auto rejected = tries_to(transport, 7002);
    const auto by_policy = tries_to(transport, 7003);
    std::vector<DialTry> all;
    for (const auto* some : {&allowed, &dropped, &rejected, &by_policy})
      all.insert(all.end(), some->begin(), some->end());
    exchange(all);
    for (const DialTry& one : allowed) {
      const Evidence seen = router_->only(one);
      EXPECT_EQ(seen.outcome, Outcome::Left);
      EXPECT_EQ(seen.interface, "to_server");
      EXPECT_EQ(seen.tuple, one.what.tuple);
      EXPECT_GT(seen.generation, 0U);
    }
    for (const auto* some : {&dropped, &rejected}) {
      for (const DialTry& one : *some) {
        const Evidence seen = router_->only(one);
        EXPECT_EQ(seen.outcome, Outcome::Dropped);
        EXPECT_EQ(seen.hook, "forward");
        EXPECT_EQ(seen.table, "inet bulkhead");
        EXPECT_EQ(seen.chain, "c_client");
        EXPECT_EQ(seen.verdict, "drop");
        const std::string rule =
            pod_->run("router", "nft -a list chain inet bulkhead c_client | grep 'handle " +
                                    std::to_string(seen.handle) + "$'");
        EXPECT_NE(rule.find(some == &dropped ? "R7" : "R8"), std::string::npos) << rule;
      }
    }
    for (const DialTry& one : by_policy) {
      const Evidence seen = router_->only(one);
      EXPECT_EQ(seen.outcome, Outcome::Dropped);
      EXPECT_EQ(seen.chain, "forward");
      EXPECT_EQ(seen.verdict, "policy drop");
    }
  }
}

TEST_F(lab_agent_trace, TraceSeesEchoLargeDatagramsAndTheEnforcerItself) {
  pod_->rules(kRuleset);
  trace();
  listen_on(Transport::Udp, 7000);
  const auto echo = tries_to(Transport::Icmp, 1);
  const auto large = tries_to(Transport::Udp, 7000, 4000);
  std::vector<DialTry> all = echo;
  all.insert(all.end(), large.begin(), large.end());
  exchange(all);
  for (const DialTry& one : all)
    EXPECT_EQ(router_->only(one).outcome, Outcome::Left) << one.what.probe;

  const auto itself = try_of(Transport::Udp, kClient[0], kRouter[0], 7009);
  exchange({itself});
  EXPECT_EQ(router_->only(itself).outcome, Outcome::Delivered);
  EXPECT_EQ(router_->only(itself).hook, "input");
}

// The four bytes in front of the token tell one packet of a protocol from the next.
TEST_F(lab_agent_trace, TraceTellsTriesOfABareProtocolAndLoneAcksApart) {
  pod_->rules(kRuleset);
  trace();
  std::vector<DialTry> all;
  for (const std::uint16_t protocol : {47, 50, 132}) {
    for (int i = 0; i < 2; ++i)
      for (const DialTry& one : tries_to(Transport::Raw, protocol))
        all.push_back(one);
  }
  for (DialTry one : tries_to(Transport::Tcp, 7003)) {
    one.what.payload = compiler::Payload::LoneAck;
    all.push_back(one);
  }
  exchange(all);
  for (const DialTry& one : all) {
    const Evidence seen = router_->only(one);
    EXPECT_EQ(seen.outcome, Outcome::Dropped) << one.what.probe;
    EXPECT_EQ(seen.tuple, one.what.tuple);
    EXPECT_EQ(seen.chain, "forward");
    EXPECT_TRUE(server_->of(one).empty());
    EXPECT_EQ(client_->only(one).outcome, Outcome::Timeout);
  }
}

// Another owner's chain behind our last one drops what we thought had left.
TEST_F(lab_agent_trace, TraceBelievesTheVeryLastChain) {
  pod_->rules(kRuleset);
  trace();
  pod_->rules(
      "table ip other {\nchain late {\n type filter hook postrouting priority 900;\n"
      " ip daddr 10.2.0.2 drop\n}\n}");
  const auto one = try_of(Transport::Tcp, kClient[0], kServer[0], 7000);
  exchange({one});
  const Evidence seen = router_->only(one);
  EXPECT_EQ(seen.outcome, Outcome::Dropped);
  EXPECT_EQ(seen.table, "ip other");
  EXPECT_EQ(seen.hook, "postrouting");
}

}  // namespace
}  // namespace bulkhead::test
