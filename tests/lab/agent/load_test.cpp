// What a try costs: 20,000 of them from one agent to another through a traced router, half of them
// dropped there. Prints rates; fails only where something was lost.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>
#include <sstream>

#include "tests/lab/agent/peer.h"
#include "tests/lab/agent/pod.h"

namespace bulkhead::test {
namespace {

using namespace probes;
using namespace std::chrono_literals;

// User and system time of a process, from /proc/PID/stat.
std::chrono::milliseconds cpu_of(int pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text((std::istreambuf_iterator<char>(file)), {});
  std::istringstream rest(text.substr(text.rfind(')') + 2));
  std::string skipped;
  for (int i = 0; i < 11; ++i)
    rest >> skipped;
  long user = 0;
  long system = 0;
  rest >> user >> system;
  return std::chrono::milliseconds((user + system) * 1000 / ::sysconf(_SC_CLK_TCK));
}

TEST(lab_agent_load, TwentyThousandTriesThroughATracedRouter) {
  if (const std::string why = Pod::why_not(); !why.empty())
    GTEST_SKIP() << why;
  constexpr int kTries = 20000;
  constexpr int kRound = 2000;
  const Pod pod;
  pod.rules(
      "table inet bulkhead {\nchain forward {\n type filter hook forward priority 0; policy drop;\n"
      " ct state established accept\n meta l4proto { tcp, udp } th dport 7000 accept\n"
      " meta l4proto { tcp, udp } th dport 7001 drop\n}\n}");
  pod.trace();
  const auto launcher =
      netns_launcher(BULKHEAD_BINARY_DIR "/bin/bulkhead-agent",
                     [&](const std::string& host) { return pod.netns_path(host); });
  Peer client(*launcher, "client");
  Peer server(*launcher, "server");
  Peer router(*launcher, "router", true);
  for (const char* to : {"10.2.0.2", "fd02::2"}) {
    server.listen({{compiler::Transport::Tcp, address(to), 7000},
                   {compiler::Transport::Udp, address(to), 7000}});
  }
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t lost = 0;
  std::vector<DialTry> allowed;
  std::vector<DialTry> denied;
  for (int round = 0; round < kTries / kRound; ++round) {
    std::vector<DialTry> tries;
    for (int i = 0; i < kRound; ++i) {
      const auto transport = i % 4 < 2 ? compiler::Transport::Tcp : compiler::Transport::Udp;
      const bool v4 = i % 8 < 4;
      const bool allow = i % 2 == 0;
      tries.push_back(try_of(transport, v4 ? "10.1.0.2" : "fd01::2", v4 ? "10.2.0.2" : "fd02::2",
                             allow ? 7000 : 7001));
      (allow ? allowed : denied).push_back(tries.back());
    }
    server.expect(tries);
    router.expect(tries);
    client.dial(tries, 500ms);
    lost += client.collect().lost + server.collect().lost + router.collect().lost;
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  std::string line = fmt::format("{} tries in {:.1f} s, CPU", kTries, wall.count());
  for (auto& [name, peer] :
       {std::pair<const char*, Peer&>{"client", client}, {"server", server}, {"router", router}})
    line +=
        fmt::format(" {} {} us/try", name, cpu_of(peer.process().pid()).count() * 1000 / kTries);
  fmt::print("{}, evidence {}, events lost {}\n", line,
             client.evidence().size() + server.evidence().size() + router.evidence().size(), lost);

  EXPECT_EQ(lost, 0U);
  std::map<Outcome, int> outcomes;
  for (const Peer* peer : {&client, &server, &router}) {
    for (const Evidence& evidence : peer->evidence())
      ++outcomes[evidence.outcome];
  }
  const int half = kTries / 2;
  EXPECT_EQ(outcomes[Outcome::Answered], half);
  EXPECT_EQ(outcomes[Outcome::Timeout], half);
  EXPECT_EQ(outcomes[Outcome::TokenSeen], half);
  EXPECT_EQ(outcomes[Outcome::Dropped], half);
  EXPECT_EQ(outcomes[Outcome::Left], half);
}

}  // namespace
}  // namespace bulkhead::test
