// The agent as a process: its pace, its end, its facts, and what becomes of a broken conversation.
#include <gtest/gtest.h>
#include <signal.h>

#include "probes/identity.h"
#include "tests/lab/agent/fixture.h"

namespace bulkhead::test {
namespace {

class lab_agent_process : public AgentTest {};

TEST_F(lab_agent_process, CollectEndsWhatIsStillOpen) {
  pod_->rules(
      "table inet f {\nchain c {\n type filter hook forward priority 0; policy drop;\n}\n}");
  const auto tries = tries_to(Transport::Tcp, 7000);
  const auto begin = std::chrono::steady_clock::now();
  client_->start_dial(tries, 30s);
  ASSERT_TRUE(client_->send(Collect{1}));
  client_->finish_dial();
  EXPECT_TRUE(std::holds_alternative<Collected>(client_->next(5s).value()));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  for (const DialTry& one : tries)
    EXPECT_TRUE(client_->saw(one, Outcome::Sent) || client_->saw(one, Outcome::SetupFailed));
}

TEST_F(lab_agent_process, KeepsToThePace) {
  std::vector<DialTry> tries;
  for (int i = 0; i < 100; ++i)
    tries.push_back(try_of(Transport::Udp, kClient[0], kServer[0], 7001));
  const auto begin = std::chrono::steady_clock::now();
  client_->start_dial(tries, 100ms, 200);
  client_->finish_dial();
  EXPECT_GT(std::chrono::steady_clock::now() - begin, 400ms);
}

// Case D05: a cut stream is no result, whatever its exit status. Nothing answers, or the round
// could be over before the agent is killed.
TEST_F(lab_agent_process, KilledAgentIsAChannelError) {
  pod_->rules(
      "table inet f {\nchain c {\n type filter hook forward priority 0; policy drop;\n}\n}\n");
  const auto tries = tries_to(Transport::Tcp, 7000);
  client_->start_dial(tries, 10s);
  client_->kill();
  for (;;) {
    const auto word = client_->next(5s);
    if (!word) {
      EXPECT_EQ(word.error().kind, ErrorKind::Environment);
      break;
    }
    EXPECT_TRUE(std::holds_alternative<Evidence>(*word)) << "never a `dialed`";
  }
}

TEST_F(lab_agent_process, NonsenseIsAnsweredAndEndsTheAgent) {
  ASSERT_TRUE(client_->process().channel().send(R"({"schema":"bulkhead.agent/1","type":"fly"})"));
  const auto word = client_->next(5s);
  ASSERT_TRUE(word);
  ASSERT_TRUE(std::holds_alternative<Failed>(*word));
  EXPECT_NE(std::get<Failed>(*word).reason.find("fly"), std::string::npos);
  EXPECT_FALSE(client_->next(5s)) << "the stream ends";
}

TEST_F(lab_agent_process, SaysByeAndEnds) {
  client_->stop();
  EXPECT_FALSE(client_->next(5s));
}

TEST_F(lab_agent_process, TellsFacts) {
  EXPECT_FALSE(server_->facts().forwards_v4);
  const Peer router(*launcher_, "router", true);
  EXPECT_TRUE(router.facts().forwards_v4);
  EXPECT_TRUE(router.facts().forwards_v6);
  EXPECT_TRUE(router.facts().can_trace);
  EXPECT_EQ(router.facts().interfaces, (std::vector<std::string>{"lo", "to_client", "to_server"}));
  ASSERT_EQ(router.facts().macs.size(), 3U);
  EXPECT_EQ(router.facts().macs[0], Mac{}) << "the loopback interface has none";
  EXPECT_NE(router.facts().macs[1], router.facts().macs[2]);
}

TEST_F(lab_agent_process, DestroyingThePeerEndsTheProcess) {
  const int pid = client_->process().pid();
  client_ = nullptr;
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST_F(lab_agent_process, MissingNamespaceOrProgramIsExplained) {
  auto nowhere = netns_launcher(BULKHEAD_BINARY_DIR "/bin/bulkhead-agent",
                                [](const std::string&) { return "/run/netns/lab_agent.none"; });
  const auto no_netns = nowhere->launch("n17");
  ASSERT_FALSE(no_netns);
  EXPECT_NE(no_netns.error().message.find("n17"), std::string::npos);
  auto nothing = netns_launcher("/nonexistent/bulkhead-agent",
                                [this](const std::string& host) { return pod_->netns_path(host); });
  const auto no_program = nothing->launch("client");
  ASSERT_FALSE(no_program);
  EXPECT_NE(no_program.error().message.find("/nonexistent/bulkhead-agent"), std::string::npos);
}

}  // namespace
}  // namespace bulkhead::test
