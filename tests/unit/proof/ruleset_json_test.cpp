// Reading listings: what is an error, and what stays in its rule as unmodelled.
#include "compiler/proof/ruleset_json.h"

#include <gtest/gtest.h>

#include <string>

namespace bulkhead::test {

namespace {

using namespace compiler::proof;

const std::string kHead =
    R"({"nftables": [{"metainfo": {"version": "1.0.6", "json_schema_version": 1}},
        {"table": {"family": "inet", "name": "t", "handle": 1}},
        {"chain": {"family": "inet", "table": "t", "name": "f", "handle": 1, "type": "filter",
                   "hook": "forward", "prio": -5, "policy": "drop"}},
        {"chain": {"family": "inet", "table": "t", "name": "c", "handle": 2}})";

std::string rule(const std::string& chain, const std::string& expr) {
  return R"(, {"rule": {"family": "inet", "table": "t", "chain": ")" + chain +
         R"(", "handle": 7, "expr": [)" + expr + "]}}";
}

std::string error_of(const std::string& json) {
  const auto ruleset = parse_ruleset(json);
  return ruleset ? "" : ruleset.error().message;
}

// The statements of one rule.
std::vector<Statement> read(const std::string& expr) {
  const auto ruleset = parse_ruleset(kHead + rule("f", expr) + "]}");
  EXPECT_TRUE(ruleset) << (ruleset ? "" : ruleset.error().message);
  return ruleset ? ruleset->chains.at(0).rules.at(0).statements : std::vector<Statement>();
}

TEST(RulesetJson, ReadsBaseChains) {
  const auto ruleset = parse_ruleset(kHead + "]}");
  ASSERT_TRUE(ruleset) << ruleset.error().message;
  ASSERT_TRUE(ruleset->chains.at(0).base);
  EXPECT_EQ(ruleset->chains[0].base->priority, -5);
  EXPECT_TRUE(ruleset->chains[0].base->policy_drop);
  EXPECT_FALSE(ruleset->chains[1].base);
}

TEST(RulesetJson, SaysWhatIsNotListed) {
  const auto statements = read(
      R"({"match": {"op": "!=", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": 22}},
         {"accept": null})");
  ASSERT_EQ(statements.size(), 3U);
  const auto& implied = std::get<Match>(statements[0]);
  EXPECT_TRUE(implied.implied);
  EXPECT_EQ(implied.key.at(0).selector, Selector::MetaL4proto);
  EXPECT_EQ(implied.ranges, (std::vector<ValueRange>{{6, 6}}));
  const auto& match = std::get<Match>(statements[1]);
  EXPECT_TRUE(match.negated);
  EXPECT_EQ(match.key.at(0).selector, Selector::ThDport);
}

TEST(RulesetJson, TurnsComparisonsIntoRanges) {
  struct Case {
    std::string op, right;
    std::vector<ValueRange> ranges;
  };
  for (const Case& c :
       {Case{"<", "10", {{0, 9}}}, Case{"<=", "10", {{0, 10}}}, Case{">", "10", {{11, 65535}}},
        Case{">=", "10", {{10, 65535}}}, Case{"<", "0", {}}, Case{">", "65535", {}},
        Case{"==", R"({"range": [5, 9]})", {{5, 9}}},
        Case{"==", R"({"set": [9, {"range": [1, 3]}, 4]})", {{1, 4}, {9, 9}}}}) {
    const auto statements =
        read(R"({"match": {"op": ")" + c.op +
             R"(", "left": {"payload": {"protocol": "th", "field": "dport"}}, "right": )" +
             c.right + "}}");
    ASSERT_EQ(statements.size(), 1U) << c.op << c.right;
    EXPECT_EQ(std::get<Match>(statements[0]).ranges, c.ranges) << c.op << c.right;
  }
}

TEST(RulesetJson, TestsFlagsByMask) {
  const auto statements = read(
      R"({"match": {"op": "in", "left": {"ct": {"key": "state"}}, "right": ["established", "new"]}})");
  ASSERT_EQ(statements.size(), 1U);
  const auto& match = std::get<Match>(statements[0]);
  EXPECT_EQ(match.key.at(0).mask, Value{10});
  EXPECT_TRUE(match.negated);
  EXPECT_EQ(match.ranges, (std::vector<ValueRange>{{0, 0}}));
}

TEST(RulesetJson, KeepsWhatItCannotSay) {
  struct Case {
    std::string expr;
    Unmodelled::Kind kind;
  };
  for (
      const Case& c :
      {Case{R"({"match": {"op": "==", "left": {"osf": {"key": "name"}}, "right": "Linux"}})",
            Unmodelled::Kind::Condition},
       Case{
           R"({"match": {"op": "==", "left": {"meta": {"key": "iifname"}}, "right": {"range": ["", ""]}}})",
           Unmodelled::Kind::Condition},
       Case{R"({"match": {"op": "==", "left": {"meta": {"key": "l4proto"}}, "right": "no-such"}})",
            Unmodelled::Kind::Condition},
       Case{R"({"tproxy": {"port": 50}})", Unmodelled::Kind::Effect},
       Case{R"({"of a later nft": 1})", Unmodelled::Kind::Effect},
       Case{R"("nonsense")", Unmodelled::Kind::Effect}}) {
    const auto statements = read(c.expr);
    ASSERT_EQ(statements.size(), 1U) << c.expr;
    const auto* unmodelled = std::get_if<Unmodelled>(&statements[0]);
    ASSERT_NE(unmodelled, nullptr) << c.expr;
    EXPECT_EQ(unmodelled->kind, c.kind) << c.expr;
    EXPECT_FALSE(unmodelled->reason.empty());
  }
}

TEST(RulesetJson, RefusesEveryTruncation) {
  const std::string whole =
      kHead + rule("f", R"({"jump": {"target": "c"}})") + rule("c", R"({"drop": null})") + "]}";
  ASSERT_EQ(error_of(whole), "");
  for (std::size_t length = 0; length < whole.size(); ++length)
    ASSERT_NE(error_of(whole.substr(0, length)), "") << length;
}

TEST(RulesetJson, RefusesWhatNoKernelLists) {
  const std::string jump_to_c = rule("f", R"({"jump": {"target": "c"}})");
  EXPECT_NE(error_of("{}").find("no listing"), std::string::npos);
  EXPECT_NE(error_of(R"({"nftables": []})").find("metainfo"), std::string::npos);
  EXPECT_NE(error_of(R"({"nftables": 5})").find("no listing"), std::string::npos);
  EXPECT_NE(error_of(kHead + rule("f", R"({"jump": {"target": "gone"}})") + "]}").find("`gone`"),
            std::string::npos);
  EXPECT_NE(error_of(kHead + rule("nowhere", R"({"drop": null})") + "]}").find("`nowhere`"),
            std::string::npos);
  EXPECT_NE(
      error_of(
          kHead +
          rule(
              "f",
              R"({"match": {"op": "==", "left": {"payload": {"protocol": "ip", "field": "saddr"}}, "right": "@gone"}})") +
          "]}")
          .find("`gone`"),
      std::string::npos);
  EXPECT_NE(error_of(kHead + jump_to_c + rule("c", R"({"goto": {"target": "c"}})") + "]}")
                .find("back to itself"),
            std::string::npos);
}

TEST(RulesetJson, RefusesJumpsDeeperThanTheKernel) {
  const auto chain_of = [](std::size_t length) {
    std::string json = kHead;
    for (std::size_t i = 0; i < length; ++i)
      json += R"(, {"chain": {"family": "inet", "table": "t", "name": "n)" + std::to_string(i) +
              R"(", "handle": 9}})";
    for (std::size_t i = 0; i + 1 < length; ++i)
      json += rule("n" + std::to_string(i),
                   R"({"jump": {"target": "n)" + std::to_string(i + 1) + R"("}})");
    return json + rule("f", R"({"jump": {"target": "n0"}})") + "]}";
  };
  EXPECT_EQ(error_of(chain_of(16)), "");
  EXPECT_NE(error_of(chain_of(17)).find("deeper"), std::string::npos);
  EXPECT_NE(error_of(chain_of(20000)).find("deeper"), std::string::npos);
}

TEST(RulesetJson, RefusesBottomlessNesting) {
  EXPECT_NE(error_of(std::string(100000, '[')), "");
  EXPECT_NE(error_of(R"({"nftables": )" + std::string(100000, '[')), "");
}

}  // namespace

}  // namespace bulkhead::test
