// What enforcement/backend.h promises, asked of every backend: a new one is one more `Place` here.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>

#include "enforcement/backends/fake_backend.h"
#include "enforcement/backends/nft_backend.h"
#include "net.h"
#include "place.h"

namespace bulkhead::enforcement {
namespace {

struct FakePlace {
  static std::string missing() { return {}; }
  static std::string change(int which) { return "state " + std::to_string(which); }
  static std::string nothing() { return kNothing; }
  static std::string not_understood() { return "wrong"; }
  static std::string not_accepted() { return "refused"; }
  void write_foreign(int which) { world.set_foreign("foreign " + std::to_string(which)); }
  std::unique_ptr<Backend> backend() { return fake_backend(world); }

  FakeWorld world;
};

struct NftPlace {
  static std::string missing() { return test::missing_for_lab(); }
  static std::string change(int which) {
    const std::string port = std::to_string(which);
    return no_table() +
           "table inet bulkhead {\n counter n_a {\n comment \"red default\"\n }\n"
           " map d4_red {\n type ipv4_addr : verdict\n flags interval\n counter\n"
           " elements = { 10.3.0.11-10.3.0.12 counter comment \"F1, F2\" : accept,\n"
           " 10.4.0." +
           port +
           " counter comment \"F3\" : drop }\n }\n"
           " chain forward {\n type filter hook forward priority 0; policy drop;\n"
           " ct state established ct direction reply accept comment \"reply\"\n"
           " ip daddr vmap @d4_red comment \"pair\"\n tcp dport " +
           port +
           " counter accept\n"
           " @th,64,8 17 accept\n counter name n_a drop comment \"default\"\n }\n}\n";
  }
  static std::string nothing() { return no_table(); }
  static std::string not_understood() { return "table inet bulkhead { chain"; }
  static std::string not_accepted() {
    return no_table() + "table inet bulkhead {\n chain a {\n jump nowhere\n }\n}\n";
  }
  void write_foreign(int which) {
    ASSERT_EQ(netns.run("nft \"add table ip other; add chain ip other c; add rule ip other c tcp "
                        "dport " +
                        std::to_string(which) + " drop\""),
              0);
  }
  std::unique_ptr<Backend> backend() { return nft_backend(netns.path()); }

  test::Netns netns;
};

template <class Place>
class BackendContract : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = Place::missing(); !missing.empty())
      GTEST_SKIP() << missing;
    place = std::make_unique<Place>();
    backend = place->backend();
  }
  Snapshot read() {
    auto snapshot = backend->read();
    EXPECT_TRUE(snapshot) << snapshot.error().message;
    return snapshot ? *snapshot : Snapshot{};
  }
  void apply(const std::string& change) {
    const Status applied = backend->apply(change);
    ASSERT_TRUE(applied) << applied.error().message;
  }

  std::unique_ptr<Place> place;
  std::unique_ptr<Backend> backend;
};
using Places = testing::Types<FakePlace, NftPlace>;
TYPED_TEST_SUITE(BackendContract, Places);

TYPED_TEST(BackendContract, NothingIsAStateOfItsOwn) {
  EXPECT_EQ(this->read().ours, kNothing);
  this->apply(TypeParam::change(1));
  EXPECT_NE(this->read().ours, kNothing);
  this->apply(TypeParam::nothing());
  EXPECT_EQ(this->read().ours, kNothing);
  this->apply(TypeParam::nothing());  // a second time, too
}

TYPED_TEST(BackendContract, TheSameChangeTwiceIsTheSameState) {
  this->apply(TypeParam::change(1));
  const std::string first = this->read().ours;
  this->apply(TypeParam::change(2));
  EXPECT_NE(this->read().ours, first);
  this->apply(TypeParam::change(1));
  this->apply(TypeParam::change(1));
  EXPECT_EQ(this->read().ours, first);
}

TYPED_TEST(BackendContract, ReadAndCheckChangeNothing) {
  this->apply(TypeParam::change(1));
  const Snapshot before = this->read();
  EXPECT_TRUE(this->backend->check(TypeParam::change(2)));
  EXPECT_FALSE(this->backend->check(TypeParam::not_understood()));
  const Snapshot after = this->read();
  EXPECT_EQ(after.ours, before.ours);
  EXPECT_EQ(after.generation, before.generation);
}

TYPED_TEST(BackendContract, WhatIsNotAcceptedChangesNothing) {
  this->apply(TypeParam::change(1));
  const Snapshot before = this->read();
  EXPECT_FALSE(this->backend->apply(TypeParam::not_understood()));
  EXPECT_FALSE(this->backend->apply(TypeParam::not_accepted()));
  EXPECT_EQ(this->read().ours, before.ours);
}

TYPED_TEST(BackendContract, UndoBringsBackJustThatState) {
  for (const bool from_nothing : {true, false}) {
    this->apply(from_nothing ? TypeParam::nothing() : TypeParam::change(1));
    const Snapshot before = this->read();
    const auto undo = this->backend->undo(before);
    ASSERT_TRUE(undo) << undo.error().message;
    this->apply(TypeParam::change(2));
    this->place->write_foreign(from_nothing ? 1 : 2);
    const Snapshot between = this->read();
    this->apply(*undo);
    EXPECT_EQ(this->read().ours, before.ours);
    EXPECT_EQ(this->read().foreign, between.foreign);
  }
}

TYPED_TEST(BackendContract, UndoOfAPastStateIsRefused) {
  this->apply(TypeParam::change(1));
  const Snapshot past = this->read();
  this->apply(TypeParam::change(2));
  EXPECT_FALSE(this->backend->undo(past));
}

TYPED_TEST(BackendContract, OthersAreSeenAndLeftAlone) {
  this->place->write_foreign(1);
  const Snapshot before = this->read();
  this->apply(TypeParam::change(1));
  EXPECT_EQ(this->read().foreign, before.foreign);
  this->place->write_foreign(2);
  const Snapshot after = this->read();
  EXPECT_NE(after.foreign, before.foreign);
  EXPECT_NE(after.generation, before.generation);
  this->apply(TypeParam::nothing());
  EXPECT_EQ(this->read().foreign, after.foreign);
}

TEST(FakeBackend, FailsAndDiesAtTheStepThatItIsTold) {
  FakeWorld world;
  const auto backend = fake_backend(world);
  world.at(FakeWorld::At::Fail, 2);
  EXPECT_TRUE(backend->apply("one"));
  EXPECT_FALSE(backend->apply("two"));
  EXPECT_EQ(world.ours(), "one");
  world.at(FakeWorld::At::Die, 2);
  const pid_t child = ::fork();
  if (child == 0) {
    (void)backend->apply("three");
    (void)backend->apply("four");
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(world.ours(), "three");
}

}  // namespace
}  // namespace bulkhead::enforcement
