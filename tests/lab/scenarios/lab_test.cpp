// The lab leaves nothing behind, whatever happens to its owner.
#include "scenarios/lab.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "enforcement/backends/netns_thread.h"
#include "enforcement/backends/nft.h"
#include "enforcement/backends/process.h"
#include "lab_fixture.h"
#include "scenarios/lab_state.h"

namespace bulkhead::scenarios {
namespace {

using ::testing::IsEmpty;
using testing::LabTest;
using testing::netns_of_lab;
using ::testing::Not;

// What a lab must not change: links and ruleset of the machine's own namespace.
std::string machine_state() {
  const auto links = enforcement::run_process({"ip", "-o", "link"}, "");
  const auto rules = enforcement::netns_nft("")->list_json();
  return (links ? links->out : links.error().message) + (rules ? *rules : rules.error().message);
}

TEST_F(LabTest, UpAndDownLeaveNothing) {
  const std::string before = machine_state();
  {
    auto lab = Lab::up(site(), {.run = "updown"});
    ASSERT_TRUE(lab) << lab.error().message;
    EXPECT_THAT(netns_of_lab("updown"), Not(IsEmpty()));
    EXPECT_EQ(machine_state(), before);
  }
  EXPECT_THAT(netns_of_lab("updown"), IsEmpty());
  EXPECT_EQ(machine_state(), before);
  EXPECT_FALSE(std::filesystem::exists("/run/bulkhead/bh-two-tenants-updown.json"));
}

// --timeout and an interrupt do not wait until the lab stands.
TEST_F(LabTest, BuildingEndsWhenItMayNotGoOn) {
  for (const int steps : {3, 14}) {  // among the namespaces, and among what is in them
    int asked = 0;
    const auto may_go_on = [&]() -> Status {
      return ++asked < steps ? Status() : fail(ErrorKind::Timeout, "time was up");
    };
    const auto lab = Lab::up(site(), {.run = "late", .may_go_on = may_go_on});
    ASSERT_FALSE(lab);
    EXPECT_EQ(lab.error().kind, ErrorKind::Timeout);
    EXPECT_EQ(asked, steps);
    EXPECT_THAT(netns_of_lab("late"), IsEmpty());
  }
}

TEST_F(LabTest, HostsReachEachOtherThroughTheFirewallInBothFamilies) {
  auto lab = Lab::up(site(), {.run = "reach"});
  ASSERT_TRUE(lab) << lab.error().message;
  for (const char* to : {"10.3.0.11", "fd00:3::11"})
    EXPECT_EQ((*lab)->exec("red1", {"ping", "-q", "-c1", "-W2", to}).value_or(-1), 0) << to;
}

TEST_F(LabTest, ForwardingIsOnInTheFirewallAlone) {
  auto lab = Lab::up(site(), {.run = "forward"});
  ASSERT_TRUE(lab) << lab.error().message;
  const auto forwards = [&](const std::string& host) {
    std::string value;
    const auto read = [&]() -> Status {
      std::ifstream("/proc/sys/net/ipv4/ip_forward") >> value;
      return {};
    };
    EXPECT_TRUE(enforcement::run_in_netns((*lab)->netns_path(host), read));
    return value;
  };
  EXPECT_EQ(forwards("fw"), "1");
  EXPECT_EQ(forwards("red1"), "0");
}

TEST_F(LabTest, TwoRunsSideBySideDoNotMeet) {
  auto first = Lab::up(site(), {.run = "sidea"});
  auto second = Lab::up(site(), {.run = "sideb"});
  ASSERT_TRUE(first) << first.error().message;
  ASSERT_TRUE(second) << second.error().message;
  ASSERT_TRUE((*first)->down());
  EXPECT_THAT(netns_of_lab("sidea"), IsEmpty());
  EXPECT_THAT(netns_of_lab("sideb"), Not(IsEmpty()));
  EXPECT_EQ((*second)->exec("red1", {"ping", "-q", "-c1", "-W2", "10.3.0.11"}).value_or(-1), 0);
}

TEST_F(LabTest, ARunsNameIsTakenOnce) {
  auto first = Lab::up(site(), {.run = "once"});
  ASSERT_TRUE(first) << first.error().message;
  const auto second = Lab::up(site(), {.run = "once"});
  ASSERT_FALSE(second);
  EXPECT_THAT(netns_of_lab("once"), Not(IsEmpty()));
  EXPECT_FALSE(Lab::up(site(), {.run = "no/way"}));
}

// Forks an owner that builds a lab and waits for its end.
pid_t fork_owner(const compiler::Site& site, const std::string& run) {
  std::array<int, 2> ready{};
  EXPECT_EQ(::pipe(ready.data()), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    auto lab = Lab::up(site, {.run = run});
    const char result = lab ? 'y' : 'n';
    if (::write(ready[1], &result, 1) == 1)
      ::pause();
    ::_exit(1);
  }
  char result = 0;
  EXPECT_EQ(::read(ready[0], &result, 1), 1);
  EXPECT_EQ(result, 'y');
  ::close(ready[0]);
  ::close(ready[1]);
  return pid;
}

bool gone_within(const std::string& run, std::chrono::milliseconds most) {
  const auto deadline = std::chrono::steady_clock::now() + most;
  while (std::chrono::steady_clock::now() < deadline) {
    if (netns_of_lab(run).empty())
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

TEST_F(LabTest, AKilledOwnerLeavesNothing) {
  const pid_t owner = fork_owner(site(), "killed");
  EXPECT_THAT(netns_of_lab("killed"), Not(IsEmpty()));
  ASSERT_EQ(::kill(owner, SIGKILL), 0);
  ::waitpid(owner, nullptr, 0);
  EXPECT_TRUE(gone_within("killed", std::chrono::seconds(10)));
}

TEST_F(LabTest, ProcessesInsideAreEndedWithTheLab) {
  auto lab = Lab::up(site(), {.run = "busy"});
  ASSERT_TRUE(lab) << lab.error().message;
  ASSERT_EQ((*lab)->exec("red1", {"sh", "-c", "sleep 300 > /dev/null 2>&1 &"}).value_or(-1), 0);
  const auto inside = processes_in({(*lab)->netns_path("red1")});
  ASSERT_EQ(inside.size(), 1U);
  ASSERT_TRUE((*lab)->down());
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(start_time(inside[0]), "");
}

// The owner and its guardian both died, as by a crash of the machine's container: the record tells.
TEST_F(LabTest, TheNextRunSweepsWhatACrashLeft) {
  LabRecord record;
  record.name = lab_name("two-tenants", "crashed");
  record.site = "two-tenants";
  record.run = "crashed";
  record.owner = 1;
  record.owner_started = "0";  // not the one that runs as 1 now
  record.hosts = {"red1"};
  record.netns = netns_names(record.name, record.hosts);
  ASSERT_TRUE(write_record(record));
  ASSERT_TRUE(add_netns(record.netns[0]));
  auto lab = Lab::up(site(), {.run = "after"});
  ASSERT_TRUE(lab) << lab.error().message;
  EXPECT_THAT(netns_of_lab("crashed"), IsEmpty());
}

TEST_F(LabTest, APersistentLabIsFoundAgain) {
  {
    auto lab = Lab::up(site(), {.run = "stays", .persistent = true});
    ASSERT_TRUE(lab) << lab.error().message;
  }
  ASSERT_TRUE(Lab::sweep());
  EXPECT_THAT(netns_of_lab("stays"), Not(IsEmpty()));
  auto found = Lab::find(site(), "stays");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ((*found)->exec("red1", {"true"}).value_or(-1), 0);
  ASSERT_TRUE((*found)->down());
  EXPECT_THAT(netns_of_lab("stays"), IsEmpty());
  EXPECT_FALSE(Lab::find(site(), "stays"));
}

TEST_F(LabTest, ARefusedRulesetIsAnErrorWithNftsWords) {
  auto lab = Lab::up(site(), {.run = "refused"});
  ASSERT_TRUE(lab) << lab.error().message;
  const Status loaded =
      (*lab)->load_rules({{"fw", "table inet x {\n chain c {\n nonsense\n }\n}\n"}});
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, ::testing::HasSubstr("on fw"));
  EXPECT_THAT(loaded.error().message, ::testing::HasSubstr("syntax error"));
}

}  // namespace
}  // namespace bulkhead::scenarios
