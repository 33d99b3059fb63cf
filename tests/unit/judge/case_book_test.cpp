#include "probes/case_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "compiler/manifest.h"
#include "tests/unit/judge/small_site.h"

namespace bulkhead::probes {
namespace {

// Thirty denies of one port: their ids do not fit into a comment of nft.
compiler::Site site_with_many_denies() {
  std::string flows;
  for (int n = 10; n < 40; ++n)
    flows += "[[flow]]\nid = \"DENY-" + std::to_string(n) +
             "\"\nfrom = \"blue-fe\"\nto = \"red-fe\"\nservices = [\"admin\"]\naction = "
             "\"deny\"\nwhy = \"for the test\"\n";
  return site_of(std::string(kSmallPolicy) + flows, std::string(kSmallInventory));
}

TEST(CaseBook, KnowsADenyByItsHashedComment) {
  const compiler::Site site = site_with_many_denies();
  ASSERT_TRUE(site.ok());
  const compiler::Artifacts artifacts = compiler::compile(site, {});
  const auto manifest = compiler::parse_manifest(artifacts.files.back().text);
  ASSERT_TRUE(manifest);
  ASSERT_EQ(manifest->hashed_rules.size(), 1U);
  const auto& [comment, rules] = *manifest->hashed_rules.begin();
  EXPECT_EQ(rules.size(), 30U);
  EXPECT_THAT(artifacts.files[0].text, testing::HasSubstr("drop comment \"" + comment + "\""));

  std::size_t cases = 0;
  for (const compiler::Probe& probe : compiler::probes_of(artifacts.probes).probes) {
    if (!probe.rule.starts_with("DENY-10,"))
      continue;
    ++cases;
    EXPECT_THAT(make_case(site, probe).planned_rules, testing::Contains(comment)) << probe.id;
  }
  EXPECT_EQ(cases, 2U) << "one a family";
}

}  // namespace
}  // namespace bulkhead::probes
