#include "enforcement/journal.h"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "enforcement/lock.h"
#include "net.h"
#include "place.h"

namespace bulkhead::enforcement {
namespace {

namespace fs = std::filesystem;

Generation some_generation() {
  Generation generation;
  generation.enforcer = "fw";
  generation.member = "fw-a";
  generation.why = "\xff not UTF-8";
  generation.boot = boot_id();
  generation.netns = netns_inode();
  generation.deadline = std::chrono::nanoseconds(123);
  generation.applier = ProcessId::self();
  return generation;
}

Journal::Contents some_contents() {
  return {"before", "after", {{"policy.toml", "p"}, {"tenants/red.toml", "r"}}};
}

class JournalTest : public testing::Test {
 protected:
  Journal open() {
    auto journal = Journal::open(folder.path() / "state");
    EXPECT_TRUE(journal) << journal.error().message;
    return *journal;
  }
  test::TemporaryFolder folder;
};

TEST_F(JournalTest, KeepsWhatItWasGiven) {
  Journal journal = open();
  auto added = journal.add(some_generation(), some_contents());
  ASSERT_TRUE(added) << added.error().message;
  EXPECT_EQ(added->number, 1U);
  added->state = GenerationState::Confirmed;
  ASSERT_TRUE(journal.write(*added));
  const auto read = Journal::at(journal.folder()).get(1);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->state, GenerationState::Confirmed);
  EXPECT_EQ(read->applier, ProcessId::self());
  EXPECT_EQ(read->deadline, std::chrono::nanoseconds(123));
  EXPECT_EQ(*journal.before(1), "before");
  EXPECT_EQ(*journal.after(1), "after");
  EXPECT_EQ(*journal.site(1), some_contents().site);
  struct stat status {};
  ASSERT_EQ(::stat(journal.folder().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700U);
}

TEST_F(JournalTest, ARecordThatDoesNotParseIsAnErrorThatNamesIt) {
  Journal journal = open();
  ASSERT_TRUE(journal.add(some_generation(), some_contents()));
  std::ofstream(journal.folder() / "generations/1/record.json") << "{";
  const auto all = journal.all();
  ASSERT_FALSE(all);
  EXPECT_NE(all.error().message.find("generations/1/record.json"), std::string::npos);
  EXPECT_FALSE(journal.last_confirmed());
}

TEST_F(JournalTest, WhatACrashLeftHalfWrittenIsNoGeneration) {
  Journal journal = open();
  fs::create_directories(journal.folder() / "generations/new");
  std::ofstream(journal.folder() / "generations/new/before") << "half";
  EXPECT_TRUE(journal.all()->empty());
  const auto added = journal.add(some_generation(), some_contents());
  ASSERT_TRUE(added);
  EXPECT_EQ(added->number, 1U);
}

TEST_F(JournalTest, KeepsTenConfirmed) {
  Journal journal = open();
  for (int i = 0; i < 13; ++i) {
    Generation generation = some_generation();
    generation.state = i == 12 ? GenerationState::Failed : GenerationState::Confirmed;
    ASSERT_TRUE(journal.add(generation, some_contents()));
  }
  ASSERT_TRUE(journal.prune());
  const auto all = journal.all();
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 11U);
  EXPECT_EQ(all->front().number, 3U);
}

TEST_F(JournalTest, AFolderThatOthersCanWriteIsRefused) {
  ASSERT_EQ(::mkdir((folder.path() / "state").c_str(), 0700), 0);
  ASSERT_EQ(::chmod((folder.path() / "state").c_str(), 0777), 0);
  EXPECT_FALSE(Journal::open(folder.path() / "state"));
}

class FullDisk : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = test::missing_for_lab(); !missing.empty())
      GTEST_SKIP() << missing;
    if (::mount("none", folder.path().c_str(), "tmpfs", 0, "size=64k,mode=0700") != 0)
      GTEST_SKIP() << "no tmpfs can be mounted here";
    mounted = true;
  }
  void TearDown() override {
    if (mounted)
      ::umount2(folder.path().c_str(), MNT_DETACH);
  }
  bool mounted = false;
  test::TemporaryFolder folder;
};

TEST_F(FullDisk, IsAnErrorAndLeavesNothing) {
  auto journal = Journal::open(folder.path());
  ASSERT_TRUE(journal);
  Journal::Contents contents = some_contents();
  contents.after.assign(100'000, 'x');
  const auto added = journal->add(some_generation(), contents);
  ASSERT_FALSE(added);
  EXPECT_NE(added.error().message.find("nothing was changed"), std::string::npos);
  EXPECT_TRUE(journal->all()->empty());
  EXPECT_TRUE(journal->add(some_generation(), some_contents())) << "the space is free again";
}

TEST_F(FullDisk, AReadOnlyDiskIsAnError) {
  auto journal = Journal::open(folder.path());
  ASSERT_TRUE(journal);
  ASSERT_EQ(::mount("none", folder.path().c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr), 0);
  EXPECT_FALSE(journal->add(some_generation(), some_contents()));
}

TEST(LockTest, IsHeldByOneAndNamesIt) {
  const test::TemporaryFolder folder;
  {
    const auto first = Lock::take(folder.path(), "apply");
    ASSERT_TRUE(first);
    const auto second = Lock::take(folder.path(), "rollback", std::chrono::milliseconds(50));
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().message.find("`apply` (pid " + std::to_string(::getpid())),
              std::string::npos)
        << second.error().message;
  }
  EXPECT_TRUE(Lock::take(folder.path(), "rollback"));
}

}  // namespace
}  // namespace bulkhead::enforcement
