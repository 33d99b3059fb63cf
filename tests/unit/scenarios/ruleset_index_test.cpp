#include "enforcement/ruleset_index.h"

#include <gtest/gtest.h>

#include <string>

namespace bulkhead::enforcement {
namespace {

std::string listing(const std::string& objects) {
  return R"({"nftables":[{"metainfo":{"version":"1.0.6"}})" + objects + "]}";
}

std::string digest(const std::string& objects) {
  const auto index = index_ruleset(listing(objects));
  return index ? index->digest : index.error().message;
}

const std::string kRule =
    R"(,{"rule":{"family":"inet","table":"bulkhead","chain":"c_red","handle":7,"comment":"default",)"
    R"("expr":[{"counter":{"packets":1,"bytes":60}},{"drop":null}]}})";

TEST(RulesetIndex, GivesARuleItsCommentByHandle) {
  const auto index = index_ruleset(listing(kRule));
  ASSERT_TRUE(index);
  EXPECT_EQ(index->comments.at({"inet bulkhead", "c_red", 7}), "default");
}

TEST(RulesetIndex, CountersAndHandlesDecideNothing) {
  const std::string later =
      R"(,{"rule":{"family":"inet","table":"bulkhead","chain":"c_red","handle":9,"comment":"default",)"
      R"("expr":[{"counter":{"packets":5,"bytes":300}},{"drop":null}]}})";
  EXPECT_EQ(digest(kRule), digest(later));
}

TEST(RulesetIndex, AVerdictAForeignTableAndAnElementDecide) {
  const std::string accepting =
      R"(,{"rule":{"family":"inet","table":"bulkhead","chain":"c_red","handle":7,"comment":"default",)"
      R"("expr":[{"counter":{"packets":1,"bytes":60}},{"accept":null}]}})";
  EXPECT_NE(digest(kRule), digest(accepting));
  EXPECT_NE(digest(kRule), digest(kRule + R"(,{"table":{"family":"ip","name":"nat","handle":1}})"));
}

TEST(RulesetIndex, TheOrderOfASetsElementsDecidesNothing) {
  const std::string set = R"(,{"set":{"family":"inet","table":"x","name":"s","elem":)";
  EXPECT_EQ(digest(set + R"([1,2]}})"), digest(set + R"([2,1]}})"));
  EXPECT_NE(digest(set + R"([1,2]}})"), digest(set + R"([1,3]}})"));
}

TEST(RulesetIndex, OurTraceTableIsNotThere) {
  EXPECT_EQ(digest(R"(,{"table":{"family":"inet","name":"bulkhead_trace","handle":4}})"
                   R"(,{"chain":{"family":"inet","table":"bulkhead_trace","name":"trace_pre"}})"),
            digest(""));
}

// A31: a listing that cannot be read is not "no rules"; a rule without statements has no `expr`.
TEST(RulesetIndex, WhatCannotBeReadIsAnError) {
  EXPECT_FALSE(index_ruleset(""));
  EXPECT_FALSE(index_ruleset("{"));
  EXPECT_FALSE(index_ruleset(R"({"nftables":{}})"));
  EXPECT_FALSE(index_ruleset(R"({"nftables":[1]})"));
  EXPECT_TRUE(
      index_ruleset(listing(R"(,{"rule":{"family":"inet","table":"x","chain":"c","handle":1}})")));
}

}  // namespace
}  // namespace bulkhead::enforcement
