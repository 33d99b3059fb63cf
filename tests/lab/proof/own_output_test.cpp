// Our own rulesets, as the kernel lists them: nothing in them is outside the model.
#include <gtest/gtest.h>

#include "compiler/proof/rule_loads.h"
#include "compiler/proof/ruleset_json.h"
#include "compiler/proof/same_rules.h"
#include "enforcement/backends/nft_sandbox.h"
#include "kernel.h"
#include "nft_cases.h"

namespace bulkhead::test {

namespace {

using namespace compiler::proof;

TEST(OwnOutput, IsModelledWhole) {
  if (const std::string missing = Kernel::missing(); !missing.empty())
    GTEST_SKIP() << missing;
  for (const NftCase& nft_case : nft_cases()) {
    const auto listing = enforcement::list_in_sandbox(nft_case.sketch().nft(), {});
    ASSERT_TRUE(listing) << nft_case.name << ": " << listing.error().message;
    auto ruleset = parse_ruleset(listing->json);
    ASSERT_TRUE(ruleset) << nft_case.name << ": " << ruleset.error().message;
    EXPECT_EQ(mark_unfaithful(*ruleset, listing->loads), 0U) << nft_case.name;
    EXPECT_FALSE(ruleset->chains.empty()) << nft_case.name;
    for (const Set& set : ruleset->sets) {
      EXPECT_EQ(set.unmodelled, "") << nft_case.name << ", set " << set.name;
      EXPECT_FALSE(set.dynamic || set.timeout) << nft_case.name << ", set " << set.name;
    }
    for (const Chain& chain : ruleset->chains)
      for (const Rule& rule : chain.rules)
        for (const Statement& statement : rule.statements) {
          const auto* unmodelled = std::get_if<Unmodelled>(&statement);
          EXPECT_EQ(unmodelled, nullptr)
              << nft_case.name << ", chain " << chain.name << ": "
              << (unmodelled != nullptr ? unmodelled->reason + " " + unmodelled->json : "");
        }
  }
}

// What `compile` proves in memory is what the kernel would enforce.
TEST(OwnOutput, IsReadAsTheKernelReadsIt) {
  if (const std::string missing = Kernel::missing(); !missing.empty())
    GTEST_SKIP() << missing;
  for (const NftCase& nft_case : nft_cases()) {
    const std::string text = nft_case.sketch().nft();
    const auto listing = enforcement::list_in_sandbox(text, {});
    ASSERT_TRUE(listing) << nft_case.name << ": " << listing.error().message;
    const auto listed = parse_ruleset(listing->json);
    ASSERT_TRUE(listed) << nft_case.name << ": " << listed.error().message;
    const auto written = parse_written_ruleset(text);
    ASSERT_TRUE(written) << nft_case.name << ": " << written.error().message;
    EXPECT_TRUE(are_same(*listed, *written)) << nft_case.name;
    EXPECT_EQ(listed->chains.size(), written->chains.size()) << nft_case.name;
    EXPECT_EQ(listed->sets.size(), written->sets.size()) << nft_case.name;
    EXPECT_EQ(listed->counters.size(), written->counters.size()) << nft_case.name;
  }
}

}  // namespace

}  // namespace bulkhead::test
