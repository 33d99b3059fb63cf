// What an agent sends past its sockets, and what its own host's rules do to what it sends.
#include <gtest/gtest.h>

#include <cerrno>

#include "tests/lab/agent/fixture.h"

namespace bulkhead::test {
namespace {

struct Ends {
  const char *client, *server;
};
constexpr Ends kEnds[] = {{"10.1.0.2", "10.2.0.2"}, {"fd01::2", "fd02::2"}};

class lab_agent_whole : public AgentTest {};

// A lease is renewed from port 68, and answered there, though a listener of ours waits on it.
TEST_F(lab_agent_whole, ASocketSharesThePortOfAListenerOfItsOwnAgent) {
  std::vector<DialTry> tries;
  for (const Ends& ends : kEnds) {
    EXPECT_EQ(client_->listen({{Transport::Udp, address(ends.client), 68}}).opened, 1U);
    server_->listen({{Transport::Udp, address(ends.server), 67}});
    tries.push_back(try_of(Transport::Udp, ends.client, ends.server, 67));
    tries.back().what.tuple.sport = 68;
  }
  exchange(tries);
  for (const DialTry& one : tries)
    EXPECT_EQ(client_->only(one).outcome, Outcome::Answered) << client_->only(one).detail;
}

TEST_F(lab_agent_whole, TheListenerOfRocesPortAnswersAPlainToken) {
  server_->listen({{Transport::Udp, address(kEnds[0].server), 4791}});
  const DialTry one = try_of(Transport::Udp, kEnds[0].client, kEnds[0].server, 4791);
  exchange({one});
  EXPECT_EQ(client_->only(one).outcome, Outcome::Answered);
}

// Silence of the sender's own host is told from silence of the network, for TCP too.
TEST_F(lab_agent_whole, RulesOfTheSendersOwnHostAreNamed) {
  pod_->run("client",
            "nft 'table inet f { chain c { type filter hook output priority 0; "
            "ip daddr 10.2.0.2 drop; ip6 daddr fd02::2 drop; }; }'");
  std::vector<DialTry> tries;
  for (const Ends& ends : kEnds) {
    for (const Transport transport : {Transport::Tcp, Transport::Udp, Transport::Icmp})
      tries.push_back(try_of(transport, ends.client, ends.server, 7000));
  }
  exchange(tries);
  for (const DialTry& one : tries) {
    EXPECT_EQ(client_->only(one).outcome, Outcome::Timeout);
    EXPECT_EQ(client_->only(one).error, EPERM) << to_json_line(client_->only(one));
    EXPECT_TRUE(server_->of(one).empty());
  }
  // Dropped on the way, nothing of the sort is said.
  pod_->run("client", "nft flush ruleset");
  pod_->rules("table inet f { chain c { type filter hook forward priority 0; policy drop; }; }");
  const DialTry away = try_of(Transport::Tcp, kEnds[0].client, kEnds[0].server, 7000);
  exchange({away});
  EXPECT_EQ(client_->only(away).error, 0);
}

// ip_forward is only the switch that sets them all.
TEST_F(lab_agent_whole, ForwardingByOneInterfaceIsForwarding) {
  spoil_pod();
  EXPECT_FALSE(client_->facts().forwards_v4);
  pod_->run("client", "echo 1 > /proc/sys/net/ipv4/conf/eth0/forwarding");
  const Peer again(*launcher_, "client");
  EXPECT_TRUE(again.facts().forwards_v4);
  EXPECT_FALSE(again.facts().forwards_v6);
}

}  // namespace
}  // namespace bulkhead::test
