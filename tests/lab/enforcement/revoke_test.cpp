// A flow that the new policy does not allow ends with it, and only that one.
#include "enforcement/revoke.h"

#include <gtest/gtest.h>

#include "enforcement/backends/nft_backend.h"
#include "enforcement/enforce.h"
#include "pod.h"

namespace bulkhead::enforcement {
namespace {

using test::carries;
using test::SiteFiles;

Target without_nfs_for_red() {
  return test::two_tenants([](SiteFiles& files) {
    test::replace(files["tenants/red.toml"], "\"nfs\", \"ping\"", "\"ping\"");
  });
}

class Revoke : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = test::missing_for_lab(); !missing.empty())
      GTEST_SKIP() << missing;
    pod = std::make_unique<test::TenantPod>();
    backend = nft_backend(pod->fw_path());
    journal = std::make_unique<Journal>(*Journal::open(folder.path() / "state"));
  }
  std::vector<std::string> apply(const Target& target) {
    std::vector<std::string> notes;
    test::inside(pod->net.netns("fw"), [&] {
      Change change = test::change_to(target, *backend);
      const auto outcome = load(*backend, *journal, change);
      ASSERT_TRUE(outcome) << outcome.error().message;
      EXPECT_TRUE(outcome->faults.empty()) << outcome->faults.front();
      notes = outcome->notes;
    });
    return notes;
  }
  std::unique_ptr<test::TenantPod> pod;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<Journal> journal;
  test::TemporaryFolder folder;
};

TEST_F(Revoke, AConnectionDiesAndItsNeighbourLivesOn) {
  apply(test::two_tenants());
  const auto listener = test::bound(pod->net, "stor", SOCK_STREAM, 2049);
  ASSERT_EQ(::listen(listener.get(), 8), 0);
  const auto red = test::socket_in(pod->net, "red", SOCK_STREAM);
  const auto blue = test::socket_in(pod->net, "blue", SOCK_STREAM);
  ASSERT_TRUE(test::connects(red, "10.3.0.11", 2049));
  const UniqueFd to_red(::accept(listener.get(), nullptr, nullptr));
  ASSERT_TRUE(test::connects(blue, "10.3.0.11", 2049));
  const UniqueFd to_blue(::accept(listener.get(), nullptr, nullptr));
  for (const auto& [a, b] : {std::pair(&red, &to_red), std::pair(&blue, &to_blue)}) {
    ASSERT_TRUE(carries(*a, *b, 2000));
    ASSERT_TRUE(carries(*b, *a, 2000));
  }

  const auto notes = apply(without_nfs_for_red());
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes.front().find("10.1.0.11"), std::string::npos) << notes.front();
  EXPECT_TRUE(carries(blue, to_blue, 2000));
  EXPECT_TRUE(carries(to_blue, blue, 2000));
  // The former replies first: they alone had passed by the kernel's memory of the connection, and
  // with nf_conntrack_tcp_loose a packet in the middle begins a new one.
  EXPECT_FALSE(carries(to_red, red, 700));
  EXPECT_FALSE(carries(red, to_red, 700));
  EXPECT_FALSE(carries(to_red, red, 700));
  const auto left = backend->connections();
  ASSERT_TRUE(left);
  for (const Connection& one : *left)
    EXPECT_NE(one.original.from.str(), "10.1.0.11") << to_string(one);

  // Allowed again, it goes on where it was: nothing else of it was touched.
  apply(test::two_tenants());
  EXPECT_TRUE(carries(red, to_red, 5000));
}

TEST_F(Revoke, WhatAnUndoneGenerationLetInEndsWithIt) {
  apply(without_nfs_for_red());
  const Target open = test::two_tenants();
  const auto listener = test::bound(pod->net, "stor", SOCK_STREAM, 2049);
  ASSERT_EQ(::listen(listener.get(), 8), 0);
  const auto red = test::socket_in(pod->net, "red", SOCK_STREAM);
  test::inside(pod->net.netns("fw"), [&] {
    Change change = test::change_to(open, *backend);
    change.confirm_within = std::chrono::seconds(60);
    const auto outcome = load(*backend, *journal, change);
    ASSERT_TRUE(outcome) << outcome.error().message;
  });
  ASSERT_TRUE(test::connects(red, "10.3.0.11", 2049));
  const UniqueFd to_red(::accept(listener.get(), nullptr, nullptr));
  ASSERT_TRUE(carries(to_red, red, 2000));
  test::inside(pod->net.netns("fw"), [&] {
    const auto ended = give_up(*backend, *journal, 2, "no");
    ASSERT_TRUE(ended) << ended.error().message;
  });
  EXPECT_FALSE(carries(to_red, red, 700));
  EXPECT_FALSE(carries(red, to_red, 700));
}

}  // namespace
}  // namespace bulkhead::enforcement
