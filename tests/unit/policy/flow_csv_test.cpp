#include "policy/flow_csv.h"

#include <gmock/gmock.h>

#include "tests/unit/policy/checked.h"

namespace bulkhead::policy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Import {
  SourceMap sources;
  Diagnostics diagnostics;
  std::vector<Flow> flows;

  explicit Import(const std::string& text) {
    const auto file = read_source(memory_reader({{"flows.csv", text}}), "flows.csv", "", {},
                                  sources, diagnostics);
    if (file)
      flows = parse_flow_csv(*file, sources, diagnostics);
  }
  [[nodiscard]] std::vector<std::string> found() const {
    std::vector<std::string> out;
    for (const Diagnostic& item : diagnostics.all())
      out.push_back(sources.place(item.at) + " " + item.code);
    return out;
  }
};

const std::string kHeader = "id,from,to,services,action,both_ways,why,owner,ticket,expires\n";

TEST(FlowCsv, ReadsARow) {
  const Import import("\xef\xbb\xbf" + kHeader +
                      "F1,ops.jump; red-a.web,enforcer:fw external:world,ssh web,Deny,yes,"
                      "\"so, \"\"why\"\"\",net,NET-1,2027-06-30\r\n"
                      "F2,any,red-a,ssh,,,,,,\r\n");
  EXPECT_THAT(import.found(), IsEmpty());
  ASSERT_EQ(import.flows.size(), 2U);
  const Flow& flow = import.flows[0];
  EXPECT_EQ(flow.from.at(1).str(), "red-a.web");
  EXPECT_EQ(flow.to.at(0).what, Selector::What::Enforcer);
  EXPECT_EQ(flow.services.at(1).text, "web");
  EXPECT_EQ(flow.action, Action::Deny);
  EXPECT_TRUE(flow.both_ways);
  EXPECT_EQ(flow.why, "so, \"why\"");
  EXPECT_EQ(flow.expires, parse_date("2027-06-30"));
  EXPECT_EQ(import.flows[1].action, Action::Allow);
}

TEST(FlowCsv, ColumnsInAnyOrderAndOptional) {
  const Import import("To,Services,ID,From\nred-a,ssh,F1,any\n");
  EXPECT_THAT(import.found(), IsEmpty());
  EXPECT_EQ(import.flows.at(0).id, "F1");
}

TEST(FlowCsv, EachMistakeAtItsCell) {
  const std::pair<std::string, const char*> cases[] = {
      {kHeader + "F1,any,red-a,ssh,alow,,,,,\n", "flows.csv:2:18 bad-value"},
      {kHeader + "F1,any,red-a,ssh,,maybe,,,,\n", "flows.csv:2:19 bad-value"},
      {kHeader + "F1,any,red-a,ssh,,,,,,30.6.2027\n", "flows.csv:2:23 bad-date"},
      {kHeader + "F 1,any,red-a,ssh,,,,,,\n", "flows.csv:2:1 bad-id"},
      {kHeader + ",any,red-a,ssh,,,,,,\n", "flows.csv:2:1 bad-id"},
      {kHeader + "F1,ALL,red-a,ssh,,,,,,\n", "flows.csv:2:4 bad-selector"},
      {kHeader + "F1,any,red-a,ssh,,,,,\n", "flows.csv:2:1 csv-ragged"},
      {kHeader + "F1,any,red-a,ssh,,,\"x,,,\n", "flows.csv:2:20 csv-syntax"},
      {kHeader + "F1,any,red-a,ssh,,,,,,\nF1,any,red-a,web,,,,,,\n", "flows.csv:3:1 duplicate-id"},
      {"id,from,to\n", "flows.csv:1:1 missing-column"},
      {"id,from,to,services,whyy\n", "flows.csv:1:21 unknown-column"},
      {"id;from;to;services\nF1;any;red-a;ssh\n", "flows.csv:1:1 csv-syntax"},
      {"id,from,to,services\nF1,any,red-a,\xe4\n", "flows.csv:2:14 not-utf8"},
      {"", "flows.csv:1:1 csv-syntax"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_THAT(Import(text).found(), ElementsAre(expected)) << text;
}

TEST(FlowCsv, AnEmptyCellIsNobodyNotEverybody) {
  const Import import(kHeader + "F1,,red-a,ssh,,,,,,\n");
  EXPECT_THAT(import.found(), ElementsAre("flows.csv:2:4 empty-list"));
  EXPECT_FALSE(import.diagnostics.has_errors());
  EXPECT_THAT(import.flows.at(0).from, IsEmpty());
}

TEST(FlowCsv, AFormulaIsTextBothWays) {
  const Import import(kHeader + "F1,any,red-a,ssh,,,=cmd|'/c calc'!A0,-x,+1,\n");
  EXPECT_EQ(import.flows.at(0).why, "=cmd|'/c calc'!A0");
  const std::string written = to_csv(import.flows);
  EXPECT_THAT(written, HasSubstr(",'=cmd|'/c calc'!A0,'-x,'+1,"));
  EXPECT_EQ(Import(written).flows.at(0).why, "=cmd|'/c calc'!A0");
}

Policy awkward_policy() {
  return check_base(R"toml(
[[flow]]
id = "F1"
from = ["red-a.web", "tenant:blue", "any"]
to = []
services = ["ssh", "web"]
action = "deny"
both_ways = true
why = "a, \"b\"\r\nc = \\ \t é"
owner = "=SUM(A1)"
ticket = "'-x"
expires = 2027-06-30
[[flow]]
id = "F2"
from = "enforcer:fw"
to = ["external:world", "red-ib.web"]
services = []
)toml")
      .policy;
}

TEST(FlowCsv, TheRoundTripIsByteStable) {
  const std::string first = to_csv(awkward_policy().flows);
  const Import import(first);
  EXPECT_FALSE(import.diagnostics.has_errors());
  EXPECT_EQ(to_csv(import.flows), first);
}

TEST(FlowCsv, TomlOfTheFlowsMeansTheSame) {
  const Policy policy = awkward_policy();
  const std::string toml = to_toml(policy.flows);
  const Checked again = check_base(toml);
  EXPECT_FALSE(again.diagnostics.has_errors()) << again.rendered() << toml;
  EXPECT_EQ(to_csv(again.policy.flows), to_csv(policy.flows));
  EXPECT_EQ(to_toml(again.policy.flows), toml);
}

}  // namespace
}  // namespace bulkhead::policy
