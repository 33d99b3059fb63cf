#include "compiler/site.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/unit/compiler/site_text.h"

namespace bulkhead {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kPolicy = R"(name = "one"
[tenant.t]
[segment.s]
tenant = "t"
vlan = 1
v4 = "10.0.0.0/24"
gateway = "fw"
inside = "open"
)";
constexpr const char* kInventory = R"([enforcer.fw]
kind = "router"
[enforcer.fw.legs]
e0 = { segment = "s", v4 = "10.0.0.1/24" }
[host.h]
nic.e0 = { segment = "s", v4 = "10.0.0.5" }
)";

TEST(Site, OfSyntaxErrorsTheFirstOfEachFileAndNothingThatFollowsFromIt) {
  const auto site = site_of("name = \"x\n", "[enforcer\n[host.h]\n");
  EXPECT_THAT(findings(site),
              ElementsAre("error toml-syntax policy.toml:1", "error toml-syntax inventory.toml:1"));
  EXPECT_FALSE(site.ok());
}

TEST(Site, WhatIsNoSiteIsOneFinding) {
  const std::string here = BULKHEAD_SOURCE_DIR "/scenarios";
  const std::pair<std::string, const char*> kCases[] = {
      {"/nonexistent/site", "there is no such folder"},
      {here + "/two-tenants/policy.toml", "this is no folder"},
      {here, "there is no site in this folder"},
  };
  for (const auto& [path, told] : kCases) {
    const auto site = compiler::load_site(std::filesystem::path(path), kToday);
    EXPECT_EQ(site.diagnostics.error_count(), 1u) << path;
    EXPECT_THAT(rendered(site), HasSubstr(path + ": error: " + told));
  }
}

// One slip of the pen, one finding: what only follows from it is not told.
TEST(Site, AMistakeIsToldOnce) {
  struct Case {
    std::string in, wrong, finding;
  };
  const Case kCases[] = {
      {"kind = \"router\"", "kind = \"firewall\"", "error bad-value inventory.toml:2"},
      {"kind = \"router\"", "kind = \"router\"\nmanage = \"bulkhed\"",
       "error bad-value inventory.toml:3"},
      {"[enforcer.fw.legs]", "[enforcer.fw.leg]", ""},
      {"{ segment = \"s\", v4 = \"10.0.0.1/24\" }", "{ segment = \"z\", v4 = \"10.0.0.1/24\" }",
       "error unknown-name inventory.toml:4"},
      {"[host.h]\nnic.e0 = { segment = \"s\", v4 = \"10.0.0.5\"",
       "[host.\"h[1-2]\"]\nnic.e0 = { segment = \"z\", v4 = \"10.0.0.[5-6]\"",
       "error unknown-name inventory.toml:6"},
      {"v4 = \"10.0.0.0/24\"", "v4 = \"10.0.0/24\"", "error bad-prefix policy.toml:6"},
      {"gateway = \"fw\"", "gateway = \"fv\"", "error unknown-name policy.toml:7"},
      {"inside = \"open\"", "inside = \"opn\"", "error bad-value policy.toml:8"},
  };
  for (const auto& [in, wrong, finding] : kCases) {
    std::string policy = kPolicy, inventory = kInventory;
    std::string& text = policy.find(in) == std::string::npos ? inventory : policy;
    text.replace(text.find(in), in.size(), wrong);
    const auto site = site_of(policy, inventory);
    if (finding.empty())
      EXPECT_EQ(site.diagnostics.error_count(), 2U) << rendered(site);  // and no address, then
    else
      EXPECT_THAT(findings(site), ElementsAre(finding)) << wrong << "\n" << rendered(site);
  }
}

TEST(Site, TheDigestIsOfTheFilesAndTheDate) {
  const auto site = site_of(kPolicy, kInventory);
  ASSERT_TRUE(site.ok()) << rendered(site);
  EXPECT_EQ(site_of(kPolicy, kInventory).policy_digest, site.policy_digest);
  EXPECT_NE(site_of(kPolicy, std::string(kInventory) + "# more\n").policy_digest,
            site.policy_digest);
  const auto tomorrow = compiler::load_site(
      policy::memory_reader({{"policy.toml", kPolicy}, {"inventory.toml", kInventory}}),
      *policy::parse_date("2026-12-02"));
  EXPECT_NE(tomorrow.policy_digest, site.policy_digest);
  EXPECT_EQ(tomorrow.matrix.as_of, *policy::parse_date("2026-12-02"));
}

// What is wrong in one place never keeps the rest from being looked at.
TEST(Site, MistakesOfEveryStageAreToldInOneRun) {
  const auto site = site_of(std::string(kPolicy) + R"([service.ssh]
tcp = [22]
[[flow]]
id = "F1"
from = "s"
to = "nowhere"
services = ["ssh"]
why = "w"
[[flow]]
id = "F2"
from = "s"
to = "s"
services = ["ssh"]
action = "deny"
why = "w"
)",
                            std::string(kInventory) +
                                "[host.k]\nnic.e0 = { segment = \"s\", v4 = "
                                "\"10.0.9.5\" }\n");
  EXPECT_THAT(findings(site), ElementsAre("error unknown-name policy.toml:14",
                                          "error not-enforced-here policy.toml:17",
                                          "error address-outside-segment inventory.toml:8"));
}

// Sizes that no site has are refused before they cost time or memory.
TEST(Site, TooMuchIsAFinding) {
  std::string labels = "host,nic,segment,v4,labels\n";
  for (int i = 0; i < 2100; ++i)
    labels += fmt::format("h{0},e0,s,10.0.{1}.{2},l{0}\n", i, i / 200, i % 200 + 10);
  std::string policy(kPolicy);
  policy.replace(policy.find("/24"), 3, "/16");
  std::string inventory = "hosts = \"h.csv\"\n" + std::string(kInventory);
  inventory.replace(inventory.find("1/24"), 4, "1/16");
  EXPECT_THAT(findings(site_of(policy, inventory, {{"h.csv", labels}})),
              ElementsAre("error too-many-classes policy.toml"));

  std::string bomb = "[host.\"a[1-50000]\"]\nnic.e0 = { segment = \"s\", v4 = [";
  for (int i = 0; i < 25; ++i)
    bomb += "\"10.0.0.5\", ";
  EXPECT_THAT(findings(site_of(kPolicy, bomb + "] }\n")),
              ElementsAre("error inventory-too-large inventory.toml:2"));
}

}  // namespace
}  // namespace bulkhead
