// bulkhead-agent against real sockets, a real router and real rules: what each end says of each way
// that a packet can fare.
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>

#include "probes/identity.h"
#include "tests/lab/agent/peer.h"
#include "tests/lab/agent/pod.h"

namespace bulkhead::test {
namespace {

using compiler::Transport;
using namespace probes;
using namespace std::chrono_literals;

constexpr const char* kClient[] = {"10.1.0.2", "fd01::2"};
constexpr const char* kServer[] = {"10.2.0.2", "fd02::2"};
constexpr const char* kRouter[] = {"10.1.0.1", "fd01::1"};

class lab_agent : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = Pod::why_not(); !why.empty())
      GTEST_SKIP() << why;
    pod_ = std::make_unique<Pod>();
    launcher_ = netns_launcher(BULKHEAD_BINARY_DIR "/bin/bulkhead-agent",
                               [this](const std::string& host) { return pod_->netns_path(host); });
    client_ = std::make_unique<Peer>(*launcher_, "client");
    server_ = std::make_unique<Peer>(*launcher_, "server");
  }

  // Both families of a transport towards the server's port.
  static std::vector<DialTry> tries_to(Transport transport, std::uint16_t port,
                                       std::uint16_t size = 0) {
    return {try_of(transport, kClient[0], kServer[0], port, size),
            try_of(transport, kClient[1], kServer[1], port, size)};
  }
  void listen_on(Transport transport, std::uint16_t port) {
    const auto listening = server_->listen(
        {{transport, address(kServer[0]), port}, {transport, address(kServer[1]), port}});
    EXPECT_EQ(listening.opened, 2U);
  }
  void exchange(const std::vector<DialTry>& tries, std::chrono::milliseconds timeout = 400ms) {
    server_->expect(tries);
    if (router_)
      router_->expect(tries);
    client_->dial(tries, timeout);
    server_->collect();
    if (router_)
      router_->collect();
  }
  void trace() {
    pod_->trace();
    router_ = std::make_unique<Peer>(*launcher_, "router", true);
  }

  std::unique_ptr<Pod> pod_;
  std::unique_ptr<Launcher> launcher_;
  std::unique_ptr<Peer> client_, server_, router_;
};

TEST_F(lab_agent, AnswersWithItsOwnProofOfIdentity) {
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

TEST_F(lab_agent, EchoIsAnsweredByTheKernelAndSeenByTheCapture) {
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

TEST_F(lab_agent, DatagramsLargerThanTheMtuArrive) {
  listen_on(Transport::Udp, 7000);
  const auto tries = tries_to(Transport::Udp, 7000, 4000);
  exchange(tries);
  for (const DialTry& one : tries) {
    EXPECT_EQ(client_->only(one).outcome, Outcome::Answered);
    EXPECT_TRUE(server_->saw(one, Outcome::TokenSeen));
  }
}

// A rule that reads ports without reassembly passes the first fragment and drops the rest: the
// small datagram arrives, of the large one only the first fragment does (case A13).
TEST_F(lab_agent, OnlyTheFirstFragmentArrives) {
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
TEST_F(lab_agent, SynIsSeenThoughTheReturnPathDrops) {
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
TEST_F(lab_agent, SynIsSeenWhereNobodyListensAndTheHostDrops) {
  pod_->run("server",
            "nft 'table inet f { chain c { type filter hook input priority 0; policy drop; "
            "icmpv6 type { 135, 136 } accept; }; }'");
  auto tries = tries_to(Transport::Tcp, 7001);
  for (const DialTry& one : tries_to(Transport::Udp, 7001))
    tries.push_back(one);
  exchange(tries);
  for (const DialTry& one : tries) {
    EXPECT_EQ(client_->only(one).outcome, Outcome::Timeout);
    EXPECT_TRUE(server_->saw(
        one, one.what.transport == Transport::Tcp ? Outcome::SynSeen : Outcome::PacketSeen));
  }
}

// facts/field.md's table, and case D01: what a dialer sees is told apart as far as it can be.
TEST_F(lab_agent, RefusalsNameTheirSender) {
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

TEST_F(lab_agent, EchoErrorsNameTheirSender) {
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

TEST_F(lab_agent, NoRouteIsToldFromUnreachable) {
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
TEST_F(lab_agent, AbsentDestinationIsUnreachableAfterThreeSeconds) {
  const auto one = try_of(Transport::Tcp, kClient[0], "10.1.0.99", 80);
  exchange({one}, 5000ms);
  const Evidence seen = client_->only(one);
  EXPECT_EQ(seen.outcome, Outcome::Unreachable);
  EXPECT_GT(seen.elapsed, 2500ms);
}

TEST_F(lab_agent, DroppedIsATimeout) {
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

// Case D07: the same port again and again, and again after the listener's agent came back.
TEST_F(lab_agent, ListenerAnswersManyTimesAndAfterARestart) {
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

TEST_F(lab_agent, DeadListenerIsRefusedNotBlocked) {
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

// A port that a service of the host holds is left alone and watched.
TEST_F(lab_agent, HeldPortIsWatchedPassively) {
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

TEST_F(lab_agent, TokensThatNobodyExpectsAreNotAnswered) {
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
TEST_F(lab_agent, DialsItsOwnListener) {
  listen_on(Transport::Tcp, 7000);
  const auto one = try_of(Transport::Tcp, kServer[0], kServer[0], 7000);
  server_->expect({one});
  server_->dial({one});
  EXPECT_TRUE(server_->saw(one, Outcome::Answered));
  EXPECT_TRUE(server_->saw(one, Outcome::TokenSeen));
}

// A foreign NAT changes the 5-tuple; the SYN is still known by its sequence number.
TEST_F(lab_agent, SynIsKnownBehindANat) {
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

TEST_F(lab_agent, RoceTemplatesCarryTheTokenBehindTheirHeader) {
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

// Case D13: transports are never fused.
TEST_F(lab_agent, UdpAloneIsBlocked) {
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
TEST_F(lab_agent, EgressRuleOfTheSourceBlocks) {
  listen_on(Transport::Tcp, 7000);
  listen_on(Transport::Udp, 7000);
  pod_->run("client",
            "nft 'table inet f { chain c { type filter hook output priority 0; policy accept; "
            "meta l4proto { tcp, udp } th dport 7000 drop; }; }'");
  auto tries = tries_to(Transport::Tcp, 7000);
  for (const DialTry& one : tries_to(Transport::Udp, 7000))
    tries.push_back(one);
  exchange(tries);
  for (const DialTry& one : tries) {
    EXPECT_EQ(client_->only(one).outcome, Outcome::Timeout);
    EXPECT_TRUE(server_->of(one).empty());
  }
  EXPECT_EQ(client_->only(tries.back()).error, EPERM);
}

TEST_F(lab_agent, CollectEndsWhatIsStillOpen) {
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

TEST_F(lab_agent, KeepsToThePace) {
  std::vector<DialTry> tries;
  for (int i = 0; i < 100; ++i)
    tries.push_back(try_of(Transport::Udp, kClient[0], kServer[0], 7001));
  const auto begin = std::chrono::steady_clock::now();
  client_->start_dial(tries, 100ms, 200);
  client_->finish_dial();
  EXPECT_GT(std::chrono::steady_clock::now() - begin, 400ms);
}

// Case D05: a cut stream is no result, whatever its exit status. Nothing answers, or the round could
// be over before the agent is killed.
TEST_F(lab_agent, KilledAgentIsAChannelError) {
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

TEST_F(lab_agent, NonsenseIsAnsweredAndEndsTheAgent) {
  ASSERT_TRUE(client_->process().channel().send(R"({"schema":"bulkhead.agent/1","type":"fly"})"));
  const auto word = client_->next(5s);
  ASSERT_TRUE(word);
  ASSERT_TRUE(std::holds_alternative<Failed>(*word));
  EXPECT_NE(std::get<Failed>(*word).reason.find("fly"), std::string::npos);
  EXPECT_FALSE(client_->next(5s)) << "the stream ends";
}

TEST_F(lab_agent, SaysByeAndEnds) {
  client_->stop();
  EXPECT_FALSE(client_->next(5s));
}

TEST_F(lab_agent, TellsFacts) {
  EXPECT_FALSE(server_->facts().forwards_v4);
  const Peer router(*launcher_, "router", true);
  EXPECT_TRUE(router.facts().forwards_v4);
  EXPECT_TRUE(router.facts().forwards_v6);
  EXPECT_TRUE(router.facts().can_trace);
  EXPECT_EQ(router.facts().interfaces, (std::vector<std::string>{"lo", "to_client", "to_server"}));
}

TEST_F(lab_agent, DestroyingThePeerEndsTheProcess) {
  const int pid = client_->process().pid();
  client_ = nullptr;
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST_F(lab_agent, MissingNamespaceOrProgramIsExplained) {
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

// --- trace ---------------------------------------------------------------------------------------

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

TEST_F(lab_agent, TraceTellsTheLastWord) {
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

TEST_F(lab_agent, TraceSeesEchoLargeDatagramsAndTheEnforcerItself) {
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

// Another owner's chain behind our last one drops what we thought had left.
TEST_F(lab_agent, TraceBelievesTheVeryLastChain) {
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
