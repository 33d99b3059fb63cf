// What a listener answers, and what it does not.
#include <gtest/gtest.h>

#include "probes/identity.h"
#include "tests/lab/agent/fixture.h"

namespace bulkhead::test {
namespace {

class lab_agent_answer : public AgentTest {};

TEST_F(lab_agent_answer, AnswersWithItsOwnProofOfIdentity) {
  for (const Transport transport : {Transport::Tcp, Transport::Udp}) {
    listen_on(transport, 7000);
    const auto tries = tries_to(transport, 7000);
    exchange(tries);
    for (const DialTry& one : tries) {
      const Evidence dialer = client_->only(one);
      EXPECT_EQ(dialer.outcome, Outcome::Answered) << to_json_line(dialer);
      EXPECT_EQ(dialer.answer, to_hex(answer_to(server_->key(), one.what.token)));
      EXPECT_EQ(dialer.tuple, one.what.tuple);
      ASSERT_TRUE(server_->saw(one, Outcome::TokenSeen));
      EXPECT_EQ(server_->of(one).back().tuple, one.what.tuple);
      EXPECT_EQ(server_->of(one).back().token, to_hex(one.what.token));
    }
  }
}

TEST_F(lab_agent_answer, EchoIsAnsweredByTheKernelAndSeenByTheCapture) {
  listen_on(Transport::Icmp, 0);
  const auto tries = tries_to(Transport::Icmp, 1);
  exchange(tries);
  for (const DialTry& one : tries) {
    EXPECT_EQ(client_->only(one).outcome, Outcome::Answered);
    const Evidence seen = server_->only(one);
    EXPECT_EQ(seen.outcome, Outcome::PacketSeen);
    EXPECT_EQ(seen.tuple, one.what.tuple);
    EXPECT_EQ(seen.interface, "eth0");
  }
}

TEST_F(lab_agent_answer, DatagramsLargerThanTheMtuArrive) {
  listen_on(Transport::Udp, 7000);
  const auto tries = tries_to(Transport::Udp, 7000, 4000);
  exchange(tries);
  for (const DialTry& one : tries) {
    EXPECT_EQ(client_->only(one).outcome, Outcome::Answered);
    EXPECT_TRUE(server_->saw(one, Outcome::TokenSeen));
  }
}

// Case D07: the same port again and again, and again after the listener's agent came back.
TEST_F(lab_agent_answer, ListenerAnswersManyTimesAndAfterARestart) {
  for (int life = 0; life < 2; ++life) {
    listen_on(Transport::Tcp, 7000);
    for (int i = 0; i < 3; ++i) {
      const auto tries = tries_to(Transport::Tcp, 7000);
      exchange(tries);
      for (const DialTry& one : tries)
        EXPECT_EQ(client_->only(one).outcome, Outcome::Answered);
    }
    server_ = nullptr;
    server_ = std::make_unique<Peer>(*launcher_, "server");
  }
}

// A port that a service of the host holds is left alone and watched.
TEST_F(lab_agent_answer, HeldPortIsWatchedPassively) {
  auto holder = netns_launcher(BULKHEAD_BINARY_DIR "/bin/bulkhead-agent",
                               [this](const std::string&) { return pod_->netns_path("server"); });
  Peer service(*holder, "service");  // answers no token that it does not expect
  EXPECT_EQ(service
                .listen({{Transport::Tcp, address(kServer[0]), 7000},
                         {Transport::Udp, address(kServer[0]), 7000}})
                .opened,
            2U);
  const auto listening = server_->listen({{Transport::Tcp, address(kServer[0]), 7000},
                                          {Transport::Udp, address(kServer[0]), 7000},
                                          {Transport::Tcp, address("10.2.0.77"), 7000}});
  EXPECT_EQ(listening.opened, 0U);
  EXPECT_EQ(listening.passive.size(), 2U);
  EXPECT_EQ(listening.failed.size(), 1U) << "an address that the host does not have";
  const auto tcp = try_of(Transport::Tcp, kClient[0], kServer[0], 7000);
  const auto udp = try_of(Transport::Udp, kClient[0], kServer[0], 7000);
  exchange({tcp, udp});
  EXPECT_EQ(client_->only(tcp).outcome, Outcome::Accepted);
  EXPECT_EQ(client_->only(udp).outcome, Outcome::Timeout);
  EXPECT_EQ(server_->only(tcp).outcome, Outcome::SynSeen);
  EXPECT_EQ(server_->only(udp).outcome, Outcome::PacketSeen);
}

TEST_F(lab_agent_answer, TokensThatNobodyExpectsAreNotAnswered) {
  listen_on(Transport::Tcp, 7000);
  listen_on(Transport::Udp, 7000);
  const auto tcp = try_of(Transport::Tcp, kClient[0], kServer[0], 7000);
  const auto udp = try_of(Transport::Udp, kClient[0], kServer[0], 7000);
  client_->dial({tcp, udp});
  server_->collect();
  EXPECT_EQ(client_->only(tcp).outcome, Outcome::Accepted);
  EXPECT_EQ(client_->only(udp).outcome, Outcome::Timeout);
  EXPECT_TRUE(server_->evidence().empty());
}

// The anchor control: a listener dialled from its own host.
TEST_F(lab_agent_answer, DialsItsOwnListener) {
  listen_on(Transport::Tcp, 7000);
  const auto one = try_of(Transport::Tcp, kServer[0], kServer[0], 7000);
  server_->expect({one});
  server_->dial({one});
  EXPECT_TRUE(server_->saw(one, Outcome::Answered));
  EXPECT_TRUE(server_->saw(one, Outcome::TokenSeen));
}

}  // namespace
}  // namespace bulkhead::test
