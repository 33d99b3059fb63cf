// What the packet alone does not decide: followed both ways, and told.
#include "compiler/proof/interpret.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "compiler/proof/packet_bytes.h"
#include "compiler/proof/ruleset_json.h"

namespace bulkhead::test {

namespace {

using namespace compiler::proof;
using ::testing::HasSubstr;

// One filter chain of hook forward; `rules` are lists of expressions.
Ruleset ruleset_of(const std::vector<std::string>& rules, const std::string& policy = "drop",
                   const std::string& more = {}) {
  std::string json = R"({"nftables": [{"metainfo": {"json_schema_version": 1}},
      {"table": {"family": "inet", "name": "t"}},)" +
                     more + R"({"chain": {"family": "inet", "table": "t", "name": "f",
      "type": "filter", "hook": "forward", "prio": 0, "policy": ")" +
                     policy + R"("}})";
  for (const std::string& rule : rules)
    json += R"(, {"rule": {"family": "inet", "table": "t", "chain": "f", "expr": [)" + rule + "]}}";
  const auto ruleset = parse_ruleset(json + "]}");
  EXPECT_TRUE(ruleset) << (ruleset ? "" : ruleset.error().message);
  return ruleset ? *ruleset : Ruleset();
}

Packet tcp(std::uint16_t port, std::uint8_t state = kCtNew) {
  PacketFacts facts;
  facts.from = *Address::parse("10.1.0.10");
  facts.to = *Address::parse("10.2.0.10");
  facts.protocol = 6;
  facts.dport = port;
  Packet packet;
  packet.bytes = bytes_of(facts);
  packet.in = Device{"a", 2, 0, 1};
  packet.out = Device{"b", 3, 0, 1};
  packet.ct_state = state;
  packet.connection.emplace();
  return packet;
}

Answer ask(const Ruleset& ruleset, const Packet& packet, const Surroundings& surroundings = {}) {
  return interpret(ruleset, packet, forward_way(TableFamily::Ip), surroundings);
}

const std::string kLimit = R"({"limit": {"rate": 5, "per": "second"}})";
const std::string kAccept = R"({"accept": null})";
const std::string kDrop = R"({"drop": null})";
const std::string kUnknown =
    R"({"match": {"op": "==", "left": {"osf": {"key": "name"}}, "right": "Linux"}})";
const std::string kFromSet =
    R"({"match": {"op": "==", "left": {"payload": {"protocol": "ip", "field": "saddr"}}, "right": "@s"}})";

std::string set_of(const std::string& flags, const std::string& elements) {
  return R"({"set": {"family": "inet", "name": "s", "table": "t", "type": "ipv4_addr", "flags": [)" +
         flags + R"(], "elem": [)" + elements + "]}},";
}

TEST(Interpret, ALimitMayPassAndMayNot) {
  const Answer answer = ask(ruleset_of({kLimit + "," + kAccept}), tcp(80));
  EXPECT_EQ(answer.outcome, Outcome::Either);
  EXPECT_EQ(answer.runs.size(), 2U);
}

TEST(Interpret, ALimitThatChangesNothingIsNoQuestion) {
  EXPECT_EQ(ask(ruleset_of({kLimit + "," + kDrop}), tcp(80)).outcome, Outcome::Drop);
}

TEST(Interpret, WhatIsNotModelledIsUnknownOnlyWhereItDecides) {
  EXPECT_EQ(ask(ruleset_of({kUnknown + "," + kAccept}), tcp(80)).outcome, Outcome::Unknown);
  EXPECT_EQ(ask(ruleset_of({kUnknown + "," + kDrop}), tcp(80)).outcome, Outcome::Drop);
  EXPECT_EQ(ask(ruleset_of({kAccept, kUnknown + "," + kDrop}), tcp(80)).outcome, Outcome::Accept);
}

TEST(Interpret, NothingIsKnownAfterAnEffectOutsideTheModel) {
  const Answer answer = ask(ruleset_of({R"({"tproxy": {"port": 50}})", kDrop}), tcp(80));
  EXPECT_EQ(answer.outcome, Outcome::Unknown);
  EXPECT_THAT(answer.runs.at(0).because.at(0), HasSubstr("tproxy"));
}

TEST(Interpret, AQueueIsDecidedElsewhere) {
  EXPECT_EQ(ask(ruleset_of({R"({"queue": {"num": 1}})"}), tcp(80)).outcome, Outcome::Either);
}

TEST(Interpret, ElementsThatExpireMayBeGone) {
  const auto ruleset =
      ruleset_of({kFromSet + "," + kAccept}, "drop",
                 set_of(R"("timeout")", R"({"elem": {"val": "10.1.0.10", "expires": 5}})"));
  EXPECT_EQ(ask(ruleset, tcp(80)).outcome, Outcome::Unknown);
  Surroundings as_listed;
  as_listed.sets_as_listed = true;
  EXPECT_EQ(ask(ruleset, tcp(80), as_listed).outcome, Outcome::Accept);
}

TEST(Interpret, ASetThatRulesFillMayHoldAnything) {
  const std::string add =
      R"({"set": {"op": "add", "elem": {"payload": {"protocol": "ip", "field": "daddr"}}, "set": "@s"}})";
  const auto ruleset = ruleset_of({add, kFromSet + "," + kAccept}, "drop", set_of("", ""));
  EXPECT_EQ(ask(ruleset, tcp(80)).outcome, Outcome::Unknown);
}

TEST(Interpret, AnEmptySetHoldsNothing) {
  const auto ruleset = ruleset_of({kFromSet + "," + kAccept}, "drop", set_of("", ""));
  EXPECT_EQ(ask(ruleset, tcp(80)).outcome, Outcome::Drop);
}

TEST(Interpret, OffloadedConnectionsPassAllRules) {
  const auto ruleset = ruleset_of({R"({"flow": {"op": "add", "flowtable": "@ft"}})", kDrop});
  EXPECT_EQ(ask(ruleset, tcp(80)).outcome, Outcome::Drop);
  EXPECT_EQ(ask(ruleset, tcp(80, kCtEstablished)).outcome, Outcome::Either);
}

TEST(Interpret, AMarkIsSeenLater) {
  const auto ruleset = ruleset_of(
      {R"({"mangle": {"key": {"meta": {"key": "mark"}}, "value": 5}})",
       R"({"match": {"op": "==", "left": {"meta": {"key": "mark"}}, "right": 5}},)" + kAccept});
  const Answer answer = ask(ruleset, tcp(80));
  EXPECT_EQ(answer.outcome, Outcome::Accept);
  ASSERT_EQ(answer.runs.at(0).steps.size(), 2U);
  EXPECT_EQ(answer.runs[0].steps[0].what, "meta mark set 5");
  EXPECT_EQ(answer.runs[0].steps[1].rule, 1U);
  EXPECT_EQ(answer.runs[0].after.mark, 5U);
}

TEST(Interpret, TooManyQuestionsAreUnknown) {
  std::vector<std::string> rules;
  for (int i = 0; i < 40; ++i)
    rules.push_back(kLimit + R"(,{"mangle": {"key": {"meta": {"key": "mark"}}, "value": )" +
                    std::to_string(i) + "}}");
  EXPECT_EQ(ask(ruleset_of(rules), tcp(80)).outcome, Outcome::Unknown);
}

}  // namespace

}  // namespace bulkhead::test
