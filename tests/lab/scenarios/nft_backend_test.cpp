// The nft backends against the kernel, in a namespace of this test.
#include "enforcement/backends/nft.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "enforcement/backends/netns_thread.h"
#include "enforcement/backends/process.h"
#include "enforcement/ruleset_index.h"
#include "enforcement/trace_table.h"
#include "lab_fixture.h"

namespace bulkhead::enforcement {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class NftBackendTest : public testing::LabTest {
 protected:
  void SetUp() override {
    LabTest::SetUp();
    if (IsSkipped())
      return;
    record_.name = "bh-test-nft-backend";
    record_.netns = {record_.name};
    scenarios::remove_lab(record_);
    ASSERT_TRUE(scenarios::add_netns(record_.name));
    nft_ = netns_nft(scenarios::netns_path(record_.name));
  }
  void TearDown() override { scenarios::remove_lab(record_); }

  std::string listing() {
    auto text = nft_->list_json();
    return text ? *text : text.error().message;
  }
  std::string digest() {
    const auto index = index_ruleset(listing());
    return index ? index->digest : index.error().message;
  }

  scenarios::LabRecord record_;
  std::unique_ptr<Nft> nft_;
};

TEST_F(NftBackendTest, LoadsAllOrNothing) {
  ASSERT_TRUE(nft_->load("table inet kept {\n}\n"));
  const std::string before = digest();
  const Status bad = nft_->load("table inet half {\n}\nadd rule inet absent c accept\n");
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message, HasSubstr("No such file"));
  EXPECT_EQ(digest(), before);
}

TEST_F(NftBackendTest, CheckingChangesNothing) {
  const auto generation = nft_->generation();
  ASSERT_TRUE(nft_->check("table inet x {\n}\n"));
  EXPECT_FALSE(nft_->check("delete table inet x\n"));
  EXPECT_EQ(*nft_->generation(), *generation);
  EXPECT_THAT(listing(), Not(HasSubstr("\"x\"")));
}

TEST_F(NftBackendTest, EachTransactionIsOneGeneration) {
  const auto before = nft_->generation();
  ASSERT_TRUE(before);
  ASSERT_TRUE(nft_->load("table inet a {\n}\ntable inet b {\n}\n"));
  EXPECT_EQ(*nft_->generation(), *before + 1);
}

TEST_F(NftBackendTest, TheTraceTableLoadsAgainAndAgainAndDecidesNothing) {
  std::vector<TracedTuple> tuples;
  for (std::uint16_t port = 1; port <= 1000; ++port)
    tuples.push_back({6, *Address::parse("10.0.0.1"), port, *Address::parse("10.0.0.2"), 22});
  tuples.push_back({1, *Address::parse("10.0.0.1"), 7, *Address::parse("10.0.0.2"), 0});
  tuples.push_back({58, *Address::parse("fd00::1"), 7, *Address::parse("fd00::2"), 0});
  const std::string before = digest();
  for (int i = 0; i < 2; ++i) {
    const Status loaded = nft_->load(trace_table_text(tuples));
    ASSERT_TRUE(loaded) << loaded.error().message;
  }
  EXPECT_EQ(digest(), before);
  ASSERT_TRUE(nft_->load(trace_table_removal()));
  ASSERT_TRUE(nft_->load(trace_table_removal()));
}

// A18: a member of a merged range cannot be taken out: an error, and never "revoked".
TEST_F(NftBackendTest, AFailedDeleteIsAnErrorAndChangesNothing) {
  ASSERT_TRUE(
      nft_->load("table inet x {\nset s {\ntype ipv4_addr\nflags interval\nauto-merge\n"
                 "elements = { 10.0.0.1, 10.0.0.2, 10.0.0.3 }\n}\n}\n"));
  const std::string before = digest();
  EXPECT_FALSE(nft_->load("delete element inet x s { 10.0.0.2 }\n"));
  EXPECT_EQ(digest(), before);
}

// A19: what is bound to an index is refused without the interface, and says nothing later.
TEST_F(NftBackendTest, AnAbsentInterfaceIsRefusedByIndexAndTakenByName) {
  const std::string chain = "table inet x {\nchain c {\n";
  EXPECT_FALSE(nft_->load(chain + "iif \"later0\" accept\n}\n}\n"));
  EXPECT_TRUE(nft_->load(chain + "iifname \"later0\" accept\n}\n}\n"));
}

// A22: our file replaces our table and leaves another owner's.
TEST_F(NftBackendTest, ReplacingOurTableKeepsOthers) {
  ASSERT_TRUE(nft_->load("table ip other {\nchain kept {\n}\n}\n"));
  const std::string ours =
      "table inet bulkhead\ndelete table inet bulkhead\n"
      "table inet bulkhead {\nchain c {\n}\n}\n";
  ASSERT_TRUE(nft_->load(ours));
  ASSERT_TRUE(nft_->load(ours));
  EXPECT_THAT(listing(), HasSubstr("kept"));
}

// A31: the kernel lists a rule without statements without `expr`; the index takes it.
TEST_F(NftBackendTest, ARuleWithoutStatementsIsReadBack) {
  ASSERT_TRUE(nft_->load("table inet x {\nchain c {\ncounter comment \"only a counter\"\n}\n}\n"));
  const auto index = index_ruleset(listing());
  ASSERT_TRUE(index);
  EXPECT_EQ(index->comments.size(), 1U);
}

TEST_F(NftBackendTest, TheCallersNamespaceStaysTheCallers) {
  const auto before = netns_nft("")->generation();
  ASSERT_TRUE(nft_->load("table inet x {\n}\n"));
  EXPECT_EQ(*netns_nft("")->generation(), *before);
  EXPECT_FALSE(netns_nft("/run/netns/absent")->list_json());
}

// `ssh HOST nft ...` with a shell in the place of ssh: same answers, same refusals.
TEST_F(NftBackendTest, OverSshTheRemoteNftDecides) {
  const auto remote = ssh_nft({"ip", "netns", "exec", record_.name, "sh", "-c",
                               "shift_host() { shift 2; eval \"$1\"; }; shift_host \"$@\"", "sh"},
                              "fw-a");
  const Status loaded = remote->load("table inet x {\n}\n");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_THAT(*remote->list_json(), HasSubstr("\"x\""));
  const Status refused = remote->load("nonsense\n");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("syntax error"));
  EXPECT_FALSE(ssh_nft({"echo", "{"}, "fw-a")->list_json());
  EXPECT_FALSE(ssh_nft({"false"}, "fw-a")->load(""));
}

TEST(Process, InputOutputStatusAndTime) {
  const auto echoed = run_process({"cat"}, std::string(1 << 20, 'x'));
  ASSERT_TRUE(echoed);
  EXPECT_EQ(echoed->out.size(), std::size_t{1} << 20);
  EXPECT_EQ(run_process({"sh", "-c", "exit 7"}, "")->status, 7);
  EXPECT_EQ(run_process({"true"}, std::string(1 << 20, 'x'))->status, 0);
  EXPECT_FALSE(run_process({"no-such-program"}, ""));
  const auto slow = run_process({"sleep", "10"}, "", std::chrono::seconds(1));
  ASSERT_FALSE(slow);
  EXPECT_EQ(slow.error().kind, ErrorKind::Timeout);
}

}  // namespace
}  // namespace bulkhead::enforcement
