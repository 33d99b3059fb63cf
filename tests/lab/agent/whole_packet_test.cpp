// What an agent sends past its sockets, and what its own host's rules do to what it sends.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

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

// The SYN goes out past a listener that holds its source port.
TEST_F(lab_agent_whole, ASynLeavesFromAPortThatIsHeld) {
  std::vector<DialTry> tries;
  for (const Ends& ends : kEnds) {
    EXPECT_EQ(client_->listen({{Transport::Tcp, address(ends.client), 53}}).opened, 1U);
    tries.push_back(try_of(Transport::Tcp, ends.client, ends.server, 7000));
    tries.back().what.tuple.sport = 53;
  }
  exchange(tries);
  for (const DialTry& one : tries) {
    EXPECT_EQ(client_->only(one).outcome, Outcome::Timeout) << client_->only(one).detail;
    EXPECT_EQ(server_->only(one).outcome, Outcome::SynSeen);
    EXPECT_EQ(server_->only(one).tuple, one.what.tuple);
  }
}

// A source that no interface of the client holds, in a frame to the router.
TEST_F(lab_agent_whole, AForgedSourceArrivesWhereNothingBindsIt) {
  const Peer router(*launcher_, "router");
  const auto& facts = router.facts();
  const auto port = std::find(facts.interfaces.begin(), facts.interfaces.end(), "to_client");
  ASSERT_NE(port, facts.interfaces.end());
  const Mac mac = facts.macs.at(static_cast<std::size_t>(port - facts.interfaces.begin()));
  std::vector<DialTry> tries = {try_of(Transport::Udp, "10.77.0.9", kServer[0], 7000),
                                try_of(Transport::Udp, "fd77::9", kServer[1], 7000)};
  for (DialTry& one : tries)
    one.frame = Frame{mac, "eth0"};
  exchange(tries);
  for (const DialTry& one : tries) {
    EXPECT_EQ(client_->only(one).outcome, Outcome::Timeout) << client_->only(one).detail;
    EXPECT_EQ(server_->only(one).outcome, Outcome::PacketSeen);
  }
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
    for (const Transport transport :
         {Transport::Tcp, Transport::Udp, Transport::Icmp, Transport::Raw})
      tries.push_back(
          try_of(transport, ends.client, ends.server, transport == Transport::Raw ? 253 : 7000));
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

// What arrives could not be accepted: such an agent proves nothing, and says so.
TEST_F(lab_agent_whole, AnAgentThatMayOpenFewFilesIsNoListener) {
  const std::string script = ::testing::TempDir() + "few_files_agent";
  std::ofstream(script) << "#!/bin/sh\nulimit -n 25\nexec " BULKHEAD_BINARY_DIR
                           "/bin/bulkhead-agent \"$@\"\n";
  ASSERT_EQ(::chmod(script.c_str(), 0755), 0);
  const auto launcher =
      netns_launcher(script, [](const std::string& host) { return pod_->netns_path(host); });
  Peer few(*launcher, "server");
  ASSERT_TRUE(few.send(Listen{{{Transport::Tcp, address(kServer[0]), 7000}}}));
  const auto word = few.next(5s);
  ASSERT_TRUE(word);
  const auto* failed = std::get_if<Failed>(&*word);
  ASSERT_NE(failed, nullptr);
  EXPECT_NE(failed->reason.find("ulimit"), std::string::npos) << failed->reason;
  ::unlink(script.c_str());
}

}  // namespace
}  // namespace bulkhead::test
