// The kernel's own answer to each golden: it loads, reads back, and replaces only our table.
#include <gtest/gtest.h>

#include <algorithm>

#include "net.h"
#include "nft_cases.h"

namespace bulkhead::test {
namespace {

using testing::ValuesIn;

class NftablesLoad : public testing::TestWithParam<NftCase> {
 protected:
  void SetUp() override {
    if (const auto missing = missing_for_lab(); !missing.empty())
      GTEST_SKIP() << missing;
  }
};

// E04: every golden, by the kernel itself. A26: one of them is made of nft's own words.
TEST_P(NftablesLoad, ChecksLoadsAndReadsBack) {
  const Net net("load");
  const std::string text = GetParam().sketch().nft();
  EXPECT_EQ(net.load(text, "-c"), "");
  EXPECT_EQ(net.output("fw", "nft list ruleset"), "") << "a check must not load";
  ASSERT_EQ(net.load(text), "");
  EXPECT_EQ(net.load(text), "") << "a second load replaces the first";
  const std::string json = net.output("fw", "nft -j list ruleset");
  EXPECT_NE(json.find("sha256:0123"), std::string::npos) << "digest as comment of a counter";
  // What the kernel lists loads again, and lists the same.
  const std::string listed = net.output("fw", "nft list table inet bulkhead");
  ASSERT_EQ(net.load("delete table inet bulkhead\n" + listed), "");
  EXPECT_EQ(net.output("fw", "nft list table inet bulkhead"), listed);
}

INSTANTIATE_TEST_SUITE_P(Sites, NftablesLoad, ValuesIn(nft_cases()), [](const auto& site) {
  std::string name = site.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(NftablesOwnTable, LeavesOtherOwnersAlone) {  // A22
  if (const auto missing = missing_for_lab(); !missing.empty())
    GTEST_SKIP() << missing;
  const Net net("owner");
  ASSERT_EQ(net.load("table ip other {\n chain c {\n  counter\n }\n}\n"), "");
  ASSERT_EQ(net.load(nft_cases().front().sketch().nft()), "");
  EXPECT_NE(net.output("fw", "nft list ruleset").find("table ip other"), std::string::npos);
}

TEST(NftablesOwnTable, AFailingLoadLeavesTheOldOneWhole) {
  if (const auto missing = missing_for_lab(); !missing.empty())
    GTEST_SKIP() << missing;
  const Net net("whole");
  ASSERT_EQ(net.load(nft_cases().front().sketch().nft()), "");
  const std::string before = net.output("fw", "nft list ruleset");
  EXPECT_NE(net.load(nft_cases().front().sketch().nft() + "\nnonsense\n"), "");
  EXPECT_EQ(net.output("fw", "nft list ruleset"), before);
}

}  // namespace
}  // namespace bulkhead::test
