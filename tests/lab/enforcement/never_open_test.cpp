// While rules come and go, by apply, undo, refusal and kill -9, packets that every policy of the
// test forbids are sent without a pause: none may arrive.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "enforcement/backends/nft_backend.h"
#include "enforcement/enforce.h"
#include "enforcement/recover.h"
#include "pod.h"

namespace bulkhead::enforcement {
namespace {

using test::SiteFiles;

class Flood {
 public:
  Flood(const test::Net& net, const std::string& from, const std::string& host,
        const std::string& to, std::uint16_t port)
      : sender_(test::socket_in(net, from, SOCK_DGRAM)),
        receiver_(test::bound(net, host, SOCK_DGRAM, port)),
        peer_(test::end_of(to, port)),
        sending_([this] { send(); }),
        receiving_([this] { receive(); }) {}
  ~Flood() { end(); }
  void end() {
    stop_ = true;
    for (std::thread* thread : {&sending_, &receiving_})
      if (thread->joinable())
        thread->join();
  }
  [[nodiscard]] std::uint64_t sent() const { return sent_; }
  [[nodiscard]] std::uint64_t arrived() const { return arrived_; }

 private:
  void send() {
    while (!stop_) {
      for (int i = 0; i < 16; ++i)
        sent_ += ::sendto(sender_.get(), "x", 1, 0, reinterpret_cast<const sockaddr*>(&peer_),
                          sizeof peer_) == 1
                     ? 1
                     : 0;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  void receive() {
    pollfd end{receiver_.get(), POLLIN, 0};
    char byte;
    while (!stop_)
      if (::poll(&end, 1, 50) == 1)
        arrived_ += ::recv(receiver_.get(), &byte, 1, MSG_DONTWAIT) == 1 ? 1 : 0;
  }

  UniqueFd sender_, receiver_;
  sockaddr_in peer_;
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> sent_{0}, arrived_{0};
  std::thread sending_, receiving_;
};

class NeverOpen : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = test::missing_for_lab(); !missing.empty())
      GTEST_SKIP() << missing;
    pod = std::make_unique<test::TenantPod>();
    backend = nft_backend(pod->fw_path());
    journal = std::make_unique<Journal>(*Journal::open(folder.path() / "state"));
  }
  // All of it in the namespace of fw, as the verbs run there.
  void at_fw(const std::function<void()>& work) { test::inside(pod->net.netns("fw"), work); }
  Result<Outcome> apply(const Target& target, bool is_proven = true) {
    Change change = test::change_to(target, *backend);
    if (!is_proven)
      change.prove = [](const Snapshot&) { return std::vector<std::string>{"as if"}; };
    return load(*backend, *journal, change);
  }

  const Target one = test::two_tenants();
  const Target other = test::two_tenants([](SiteFiles& files) {
    test::replace(files["tenants/red.toml"], "\"nfs\", \"ping\"", "\"ping\"");
  });
  std::unique_ptr<test::TenantPod> pod;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<Journal> journal;
  test::TemporaryFolder folder;
};

TEST_F(NeverOpen, DuringAHundredChanges) {
  at_fw([&] { ASSERT_TRUE(apply(one)); });
  Flood tenant(pod->net, "red", "blue", "10.2.0.11", 9999);
  Flood port(pod->net, "red", "stor", "10.3.0.11", 2050);
  Flood allowed(pod->net, "blue", "stor", "10.3.0.11", 123);
  int changes = 0;
  at_fw([&] {
    for (int round = 0; round < 6; ++round) {
      ASSERT_TRUE(apply(other));
      const auto undone = apply(one, false);
      ASSERT_TRUE(undone) << undone.error().message;
      EXPECT_FALSE(undone->faults.empty());
      Target broken = one;
      broken.change += "table inet bulkhead {\n chain x {\n jump nowhere\n }\n}\n";
      EXPECT_FALSE(apply(broken));
      ASSERT_TRUE(apply(one));
      changes += 5;  // an undone one is two
    }
    for (int round = 0; round < 35; ++round, changes += 2) {  // the loads alone, much faster
      ASSERT_TRUE(backend->apply(other.change));
      ASSERT_TRUE(backend->apply(one.change));
    }
  });
  for (Flood* flood : {&tenant, &port, &allowed})
    flood->end();
  EXPECT_GE(changes, 100);
  EXPECT_GT(allowed.arrived(), allowed.sent() / 2) << "of " << allowed.sent();
  EXPECT_GT(tenant.sent(), 1000U);
  EXPECT_EQ(tenant.arrived(), 0U) << "of " << tenant.sent();
  EXPECT_EQ(port.arrived(), 0U) << "of " << port.sent();
  RecordProperty("sent", std::to_string(tenant.sent() + port.sent()));
}

TEST_F(NeverOpen, WhenWhoAppliesIsKilledAtAnyMoment) {
  at_fw([&] { ASSERT_TRUE(apply(one)); });
  const std::string old_state = backend->read()->ours;
  at_fw([&] { ASSERT_TRUE(apply(other)); });
  const std::string new_state = backend->read()->ours;
  const auto began = std::chrono::steady_clock::now();
  at_fw([&] { ASSERT_TRUE(apply(one)); });
  const auto takes = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - began);
  Flood tenant(pod->net, "red", "blue", "10.2.0.11", 9999);
  int finished = 0;
  for (int kill = 0; kill < 50; ++kill) {
    at_fw([&] {
      const pid_t child = ::fork();
      if (child == 0) {
        (void)apply(other);
        ::_exit(0);
      }
      std::this_thread::sleep_for(takes * kill / 40);
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
      // Its listing child may still hold the lock for a moment.
      const auto lock = Lock::take(journal->folder(), "test", std::chrono::seconds(20));
      ASSERT_TRUE(lock);
      const auto recovered = recover(*backend, *journal);
      ASSERT_TRUE(recovered) << recovered.error().message;
    });
    const std::string now = backend->read()->ours;
    const bool stays = journal->all()->back().state == GenerationState::Confirmed &&
                       journal->all()->back().after == new_state;
    EXPECT_EQ(now, stays ? new_state : old_state) << "kill " << kill;
    finished += stays ? 1 : 0;
    if (stays)
      at_fw([&] { ASSERT_TRUE(apply(one)); });
  }
  tenant.end();
  EXPECT_EQ(tenant.arrived(), 0U) << "of " << tenant.sent();
  EXPECT_LT(finished, 50) << "none was killed in between";
}

}  // namespace
}  // namespace bulkhead::enforcement
