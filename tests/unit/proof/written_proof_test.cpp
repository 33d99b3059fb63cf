// What is compiled is proven before anybody sees it, from its own text.
#include "compiler/proof/written_proof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/proof/ruleset_json.h"

namespace bulkhead::test {

namespace {

using namespace compiler::proof;
using testing::HasSubstr;

const compiler::Site& site() {
  static const compiler::Site kSite =
      compiler::load_site(std::filesystem::path(BULKHEAD_SOURCE_DIR) / "scenarios/two-tenants",
                          std::chrono::year(2026) / 12 / 1);
  return kSite;
}

// The artifacts with one thing of the ruleset changed.
compiler::Artifacts with(const std::string& find, const std::string& text) {
  compiler::Artifacts artifacts = compiler::compile(site(), {});
  std::string& ruleset = artifacts.files.front().text;
  const auto at = ruleset.find(find);
  EXPECT_NE(at, std::string::npos) << find;
  if (at != std::string::npos)
    ruleset.replace(at, find.size(), text);
  return artifacts;
}

EnforcerProof proof_of(const compiler::Artifacts& artifacts) {
  const auto proofs = prove_written(site(), artifacts);
  EXPECT_EQ(proofs.size(), 1U);
  return proofs.front();
}

TEST(WrittenProof, OurOwnOutputIsEqualForAllPackets) {
  const EnforcerProof proven = proof_of(compiler::compile(site(), {}));
  EXPECT_TRUE(proven.holds()) << proven.not_proven;
  EXPECT_EQ(proven.parts.size(), 3U);
  EXPECT_GT(proven.rule_count, 50U);
}

TEST(WrittenProof, ASlipOfTheEmitterIsADifference) {
  struct Slip {
    const char* find;
    const char* text;
  };
  for (const Slip& slip : {Slip{"tcp dport 2049", "tcp dport 2050"},
                           Slip{"oifname \"bond0.103\" tcp dport 2049", "tcp dport 2049"},
                           Slip{"10.1.0.11-10.1.0.12 : goto c_red", "10.1.0.0/24 : goto c_red"},
                           Slip{"ct direction reply accept", "accept"},
                           Slip{"udp dport 4791 goto r_red comment \"roce\"\n", "\n"},
                           Slip{"hook output priority filter; policy drop;",
                                "hook output priority filter; policy accept;"},
                           Slip{"ip saddr vmap @s4_own", "ip saddr vmap @s4_own\n    accept"}}) {
    const EnforcerProof proven = proof_of(with(slip.find, slip.text));
    // An open policy of a chain that ends with a drop changes nothing.
    const bool harmless = std::string(slip.find).starts_with("hook output");
    EXPECT_EQ(proven.holds(), harmless) << slip.find << ": " << proven.not_proven;
    EXPECT_EQ(proven.not_proven, "") << slip.find;
    EXPECT_FALSE(proven.is_open_question()) << slip.find;
  }
}

TEST(WrittenProof, WhatIsNotUnderstoodIsNotProven) {
  for (const char* text :
       {"tcp dport 2049 limit rate 5/second", "tcp dport != 2049", "tcp flags syn", "rt classid 7",
        "tcp dport \"2049\" {", "tcp dport 20x9", "meta mark 1", "tcp dport 2049 counter log"}) {
    const EnforcerProof proven = proof_of(with("tcp dport 2049", text));
    EXPECT_FALSE(proven.holds()) << text;
    EXPECT_NE(proven.not_proven, "") << text;
    EXPECT_TRUE(proven.is_open_question()) << text;
  }
}

TEST(WrittenText, SaysWhereItStops) {
  struct Case {
    const char* text;
    const char* told;
  };
  const std::string head =
      "table inet bulkhead\ndelete table inet bulkhead\ntable inet bulkhead {\n";
  for (const Case& one :
       {Case{"", "line 1: "}, Case{"table inet a\ndelete table inet b\n", "line 2"},
        Case{"flush ruleset\n", "`flush`"}}) {
    const auto ruleset = parse_written_ruleset(one.text);
    ASSERT_FALSE(ruleset) << one.text;
    EXPECT_THAT(ruleset.error().message, HasSubstr(one.told));
  }
  for (const Case& one :
       {Case{"chain c {\nbogus\n}\n}\n", "line 5"}, Case{"chain c {\n", "line 5"},
        Case{"set s {\n}\n}\n", "`set`"}, Case{"chain c {\ndrop }\n}\n", "line 5"},
        Case{"chain c {\ngoto nowhere\n}\n}\n", "nowhere"}, Case{"chain c {\njump c\n}\n}\n", "c"},
        Case{"chain c {\nip saddr vmap @none\n}\n}\n", "none"},
        Case{"}\ntable inet other {\n}\n", "`table`"},
        Case{"chain c {\ncounter drop comment \"a\n}\n}\n", "line 5"}}) {
    const auto ruleset = parse_written_ruleset(head + one.text);
    ASSERT_FALSE(ruleset) << one.text;
    EXPECT_THAT(ruleset.error().message, HasSubstr(one.told)) << one.text;
  }
}

}  // namespace

}  // namespace bulkhead::test
