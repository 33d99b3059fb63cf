#include "compiler/lint/rule_lines.h"

#include <gtest/gtest.h>

namespace bulkhead::compiler::lint {
namespace {

using Lines = std::vector<std::uint32_t>;

TEST(RuleLines, OfChainsInBlocks) {
  const RuleLines lines = rule_lines(
      "flush ruleset\n"
      "table inet t {\n"
      "  set s {\n"
      "    type ipv4_addr; elements = { 10.0.0.1,\n"
      "      10.0.0.2 }\n"
      "  }\n"
      "  chain f {\n"
      "    type filter hook forward priority 0; policy drop;\n"
      "    comment \"a } in a word\"\n"
      "    # no rule }\n"
      "    ct state established accept; ct state invalid drop\n"
      "    tcp dport {\n"
      "      22, 80\n"
      "    } accept comment \"x; y\"\n"
      "    udp dport 53 \\\n"
      "      accept\n"
      "\n"
      "    drop }\n"
      "}\n"
      "table t { chain c { accept } }\n");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines.at("inet t f"), (Lines{11, 11, 12, 15, 18}));
  EXPECT_EQ(lines.at("ip t c"), Lines{20});
}

TEST(RuleLines, OfTheSameChainInTwoBlocksOneAfterTheOther) {
  const RuleLines lines =
      rule_lines("table ip t { chain c {\naccept\n} }\ntable ip t {\nchain c {\ndrop\n}\n}\n");
  EXPECT_EQ(lines.at("ip t c"), (Lines{2, 6}));
}

TEST(RuleLines, OfBrokenTextEnd) {
  EXPECT_TRUE(rule_lines("table inet t { chain ").empty());
  EXPECT_TRUE(rule_lines("").empty());
  EXPECT_EQ(rule_lines("table ip t {\nchain c {\naccept \"").at("ip t c"), Lines{3});
}

}  // namespace
}  // namespace bulkhead::compiler::lint
