#include "compiler/targets/nft_text.h"

#include <gtest/gtest.h>

#include "compiler/manifest.h"
#include "sketch.h"

namespace bulkhead::test {
namespace {

using compiler::nft_range;
using compiler::NftComments;
using compiler::NftNames;

TEST(NftRange, IsAPrefixWhereItIsOne) {
  for (const char* text : {"10.1.0.0/24", "0.0.0.0/0", "128.0.0.0/1", "10.1.0.7", "fd00:1::/64",
                           "::/0", "10.1.0.1-10.1.0.2", "10.1.0.0-10.1.1.254", "10.1.0.2-10.1.0.5"})
    EXPECT_EQ(nft_range(range(text)), text);
  EXPECT_EQ(nft_range(range("10.1.0.0-10.1.1.255")), "10.1.0.0/23");
  EXPECT_EQ(nft_range(range("fd00::2-fd00::3")), "fd00::2/127");
}

TEST(NftNames, DifferWhereTheNamesDo) {
  NftNames names;
  EXPECT_EQ(names.unique("l_", "bond0.10"), "l_bond0_10");
  EXPECT_EQ(names.unique("l_", "bond0_10"), "l_bond0_10_2");
  const std::string endless(300, 'x');
  EXPECT_LE(names.unique("c_", endless).size(), 63U);
  EXPECT_NE(names.unique("c_", endless + "1"), names.unique("c_", endless + "2"));
}

TEST(NftComments, FitOrAreHashedAndListed) {
  NftComments comments;
  EXPECT_EQ(comments.of({"F1", "F2"}), "\"F1 F2\"");
  std::vector<std::string> many;
  for (int i = 0; i < 60; ++i)
    many.push_back("RULE-" + std::to_string(i));
  const std::string hashed(comments.of(many));
  EXPECT_LE(hashed.size(), 130U);
  const auto listed = comments.take_hashed();
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ('"' + listed.begin()->first + '"', hashed);
  EXPECT_EQ(listed.begin()->second, many);
}

TEST(NftComments, LetNoQuoteThrough) {
  NftComments comments;
  const std::string text(comments.of({"a\" drop comment \"b"}));
  EXPECT_EQ(text.substr(0, 3), "\"h:");
}

TEST(Manifest, ReadsBack) {
  compiler::Manifest manifest;
  manifest.site = "two-racks";
  manifest.policy = "sha256:00";
  manifest.as_of = "2026-12-01";
  manifest.enforcers["fw"] = {"fw/nftables.nft", "ab", 4102};
  manifest.probes = {"probes.json", "cd", 0};
  manifest.hashed_rules["h:12"] = {"F1", "F2"};
  const auto back = compiler::parse_manifest(to_json(manifest));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(to_json(*back), to_json(manifest));
  EXPECT_EQ(back->enforcers.at("fw").elements, 4102U);
  EXPECT_EQ(back->proof.result, "not proven");
}

TEST(Manifest, RefusesWhatItDoesNotKnow) {
  EXPECT_FALSE(compiler::parse_manifest("{}"));
  EXPECT_FALSE(compiler::parse_manifest("nonsense"));
  std::string other = to_json(compiler::Manifest{});
  other.replace(other.find("manifest/1"), 10, "manifest/9");
  EXPECT_FALSE(compiler::parse_manifest(other));
  std::string extra = to_json(compiler::Manifest{});
  extra.insert(1, "\"surprise\": 1,");
  EXPECT_FALSE(compiler::parse_manifest(extra));
}

}  // namespace
}  // namespace bulkhead::test
