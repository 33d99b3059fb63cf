// The order of things, with a backend that fails and dies where it is told: whatever happens, what
// is there afterwards is the old state or the new one, and the journal knows which.
#include "enforcement/enforce.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "enforcement/backends/fake_backend.h"
#include "enforcement/recover.h"
#include "enforcement/watchdog.h"
#include "place.h"

namespace bulkhead::enforcement {
namespace {

using namespace std::chrono_literals;
using State = GenerationState;

class Enforce : public testing::Test {
 protected:
  Enforce() : backend(fake_backend(world)), journal(*Journal::open(folder.path() / "state")) {
    world.set_ours("old");
  }

  Change change(const std::string& text, std::optional<std::chrono::seconds> confirm_within = {}) {
    Change out;
    out.enforcer = "fw";
    out.member = "fw-a";
    out.bundle = text;
    out.text = text;
    out.confirm_within = confirm_within;
    out.may_load = [this](const Snapshot&) { return world.step(); };
    out.prove = [this](const Snapshot&) {
      return world.step() ? std::vector<std::string>() : std::vector<std::string>{"not equal"};
    };
    out.start_watchdog = [this](const Generation&) { return world.step(); };
    out.cut = [this]() -> Result<std::vector<std::string>> {
      return world.step().map([] { return std::vector<std::string>{"cut: one"}; });
    };
    return out;
  }
  Result<Outcome> apply(const std::string& text,
                        std::optional<std::chrono::seconds> confirm_within = {}) {
    Change one = change(text, confirm_within);
    return load(*backend, journal, one);
  }
  Generation last() { return journal.all()->back(); }

  // The process that applies ends as by kill -9 wherever it is.
  void wait_for(pid_t child) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
  }

  FakeWorld world;
  test::TemporaryFolder folder;
  std::unique_ptr<Backend> backend;
  Journal journal;
};

TEST_F(Enforce, LoadsProvesAndStays) {
  const auto outcome = apply("new");
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->generation.state, State::Confirmed);
  EXPECT_EQ(outcome->notes, std::vector<std::string>{"cut: one"});
  EXPECT_EQ(world.ours(), "new");
  EXPECT_EQ(last().state, State::Confirmed);
  EXPECT_EQ(last().before, "old");
  EXPECT_EQ(last().after, "new");
}

TEST_F(Enforce, ASecondTimeThereIsNothingToDo) {
  ASSERT_TRUE(apply("new"));
  const auto again = apply("new");
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->was_in_force);
  EXPECT_EQ(journal.all()->size(), 1U);
  world.set_ours("somebody else's");
  const auto anew = apply("new");
  ASSERT_TRUE(anew);
  EXPECT_FALSE(anew->was_in_force);
  EXPECT_EQ(world.ours(), "new");
}

TEST_F(Enforce, WhatIsNotProvenIsUndone) {
  Change one = change("new");
  one.prove = [](const Snapshot&) { return std::vector<std::string>{"opens forward"}; };
  const auto outcome = load(*backend, journal, one);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->faults, std::vector<std::string>{"opens forward"});
  EXPECT_EQ(world.ours(), "old");
  EXPECT_EQ(last().state, State::Undone);
}

TEST_F(Enforce, WhatTheKernelRefusesChangesNothing) {
  for (const char* text : {"wrong", "refused"}) {
    EXPECT_FALSE(apply(text));
    EXPECT_EQ(world.ours(), "old");
  }
  EXPECT_EQ(last().state, State::Failed);
}

TEST_F(Enforce, AFailureAtAnyStepLeavesOneOfTheTwoStates) {
  ASSERT_TRUE(apply("old, known"));
  world.at(FakeWorld::At::Nothing, 0);
  ASSERT_TRUE(apply("new"));
  const int steps = world.steps();
  ASSERT_GT(steps, 7);
  for (int step = 1; step <= steps; ++step) {
    ASSERT_TRUE(apply("old, known"));
    world.at(FakeWorld::At::Fail, step);
    const auto outcome = apply("new");
    world.at(FakeWorld::At::Nothing, 0);
    const bool stays = outcome && outcome->generation.state == State::Confirmed;
    EXPECT_EQ(world.ours(), stays ? "new" : "old, known") << "step " << step;
    EXPECT_TRUE(is_final(last().state)) << "step " << step;
  }
}

TEST_F(Enforce, DeathAtAnyStepIsRecovered) {
  for (int step = 1; step <= 12; ++step) {
    ASSERT_TRUE(apply("old, known"));
    world.at(FakeWorld::At::Die, step);
    const pid_t child = ::fork();
    if (child == 0) {
      (void)apply("new");
      ::_exit(0);
    }
    wait_for(child);
    world.at(FakeWorld::At::Nothing, 0);
    const auto recovered = recover(*backend, journal);
    ASSERT_TRUE(recovered) << recovered.error().message;
    EXPECT_TRUE(is_final(last().state)) << "step " << step;
    const bool stays = last().state == State::Confirmed && last().after == "new";
    EXPECT_EQ(world.ours(), stays ? "new" : "old, known") << "step " << step;
  }
}

TEST_F(Enforce, AForeignWriterInBetweenIsNoticed) {
  Change one = change("new");
  one.may_load = [this](const Snapshot&) -> Status {
    world.set_ours("somebody else's");
    return {};
  };
  EXPECT_FALSE(load(*backend, journal, one));
  EXPECT_EQ(world.ours(), "somebody else's");

  Change two = change("new");
  two.prove = [](const Snapshot&) { return std::vector<std::string>(); };
  two.start_watchdog = [this](const Generation&) -> Status {
    world.set_foreign("other");
    return {};
  };
  const auto outcome = load(*backend, journal, two);
  ASSERT_TRUE(outcome);
  EXPECT_NE(outcome->notes.front().find("another owner"), std::string::npos);
}

TEST_F(Enforce, APlanIsCarriedOutOnlyOnWhatItWasMadeFor) {
  Change one = change("new");
  one.ours_and_foreign = {"old", ""};
  world.set_foreign("other");
  const auto refused = load(*backend, journal, one);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("plan again"), std::string::npos);
  EXPECT_TRUE(journal.all()->empty());
  one.ours_and_foreign = {"old", "other"};
  EXPECT_TRUE(load(*backend, journal, one));
}

TEST_F(Enforce, StaysWhenItIsConfirmed) {
  const auto outcome = apply("new", 60s);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(last().state, State::Loaded);
  const auto second = apply("newer");
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("waits for its confirmation"), std::string::npos);
  ASSERT_TRUE(confirm(*backend, journal, 1));
  EXPECT_EQ(last().state, State::Confirmed);
  EXPECT_FALSE(confirm(*backend, journal, 1));
  EXPECT_FALSE(confirm(*backend, journal, 2));
}

TEST_F(Enforce, IsNotConfirmedWhereTheRulesAreOthers) {
  ASSERT_TRUE(apply("new", 60s));
  world.set_ours("somebody else's");
  EXPECT_FALSE(confirm(*backend, journal, 1));
  const auto ended = give_up(*backend, journal, 1, "rolled back");
  ASSERT_TRUE(ended);
  EXPECT_NE(ended->why.find("somebody else"), std::string::npos);
  EXPECT_EQ(world.ours(), "old");
}

TEST_F(Enforce, IsUndoneByItselfInTime) {
  const std::atomic<bool> stop{false};
  ASSERT_TRUE(apply("new", 1s));
  const auto ended = wait_for_confirmation(*backend, journal, 1, stop);
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->state, State::Undone);
  EXPECT_EQ(world.ours(), "old");
  const auto late = confirm(*backend, journal, 1);
  EXPECT_FALSE(late);
}

TEST_F(Enforce, IsUndoneWhenItIsInterrupted) {
  const std::atomic<bool> stop{true};
  ASSERT_TRUE(apply("new", 60s));
  const auto ended = wait_for_confirmation(*backend, journal, 1, stop);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->state, State::Undone);
  EXPECT_EQ(world.ours(), "old");
}

TEST_F(Enforce, OneAtATime) {
  const auto lock = Lock::take(journal.folder(), "apply");
  ASSERT_TRUE(lock);
  const auto second = apply("new");
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("`apply` (pid"), std::string::npos);
  EXPECT_EQ(world.ours(), "old");
}

TEST_F(Enforce, TheWatchdogSurvivesWhoIsKilled) {
  const pid_t applier = ::fork();
  if (applier == 0) {
    Change one = change("new", 60s);
    one.start_watchdog = [this](const Generation& generation) -> Status {
      if (::fork() == 0) {
        ::close_range(3, ~0U, 0);  // the lock, which exec would close
        (void)watch(*backend, journal, generation.number);
        ::_exit(0);
      }
      while (!journal.watchdog(generation.number))
        std::this_thread::sleep_for(1ms);
      return {};
    };
    (void)load(*backend, journal, one);
    ::pause();
  }
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (world.ours() != "new" && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(1ms);
  while (last().state != State::Loaded && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(1ms);
  EXPECT_EQ(last().state, State::Loaded);
  ::kill(applier, SIGKILL);
  wait_for(applier);
  while (!is_final(last().state) && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(5ms);
  EXPECT_EQ(world.ours(), "old");
  EXPECT_EQ(last().state, State::Undone);
  EXPECT_NE(last().why.find("ended before it was confirmed"), std::string::npos);
}

TEST_F(Enforce, AnotherBootHasForgottenTheRules) {
  ASSERT_TRUE(apply("new", 60s));
  Generation past = last();
  past.boot = "another";
  ASSERT_TRUE(journal.write(past));
  world.set_ours(kNothing);
  ASSERT_TRUE(recover(*backend, journal));
  EXPECT_EQ(last().state, State::Undone);
  EXPECT_EQ(world.ours(), kNothing);
}

TEST_F(Enforce, AFolderOfAnotherNamespaceIsRefused) {
  ASSERT_TRUE(apply("new", 60s));
  Generation other = last();
  other.netns = 1;
  ASSERT_TRUE(journal.write(other));
  const auto recovered = recover(*backend, journal);
  ASSERT_FALSE(recovered);
  EXPECT_NE(recovered.error().message.find("--state"), std::string::npos);
}

}  // namespace
}  // namespace bulkhead::enforcement
