#include "scenarios/fault_edit.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "memory_site.h"
#include "policy/date.h"
#include "scenarios/faults.h"

namespace bulkhead::scenarios {
namespace {

const std::string kText =
    "table inet bulkhead {\n"
    "  map p_1 {\n"
    "    elements = {\n"
    "      22 . tcp : accept,\n"
    "    }\n"
    "  }\n"
    "  chain c_red {\n"
    "    ip daddr vmap @d4_red\n"
    "    drop\n"
    "  }\n"
    "  chain c_blue {\n"
    "    drop\n"
    "  }\n"
    "}\n";

TEST(FaultEdit, ReplacesInsideTheBlockAlone) {
  const auto edited = edit_ruleset(kText, "chain c_blue", "drop", "accept");
  ASSERT_TRUE(edited) << edited.error().message;
  EXPECT_NE(edited->find("chain c_blue {\n    accept\n"), std::string::npos);
  EXPECT_NE(edited->find("vmap @d4_red\n    drop\n"), std::string::npos);
}

TEST(FaultEdit, AnEmptyReplacementTakesTheLineAway) {
  const auto edited = edit_ruleset(kText, "map p_1", "22 . tcp", "");
  ASSERT_TRUE(edited) << edited.error().message;
  EXPECT_EQ(edited->find("22 . tcp"), std::string::npos);
}

TEST(FaultEdit, AddsAtTheEndOfTheBlockOrTheText) {
  const auto inside = edit_ruleset(kText, "chain c_red", "", "    accept");
  ASSERT_TRUE(inside);
  EXPECT_NE(inside->find("    drop\n    accept\n  }\n  chain c_blue"), std::string::npos);
  const auto behind = edit_ruleset(kText, "", "", "table ip other {\n}");
  ASSERT_TRUE(behind);
  EXPECT_TRUE(behind->ends_with("}\ntable ip other {\n}\n"));
}

TEST(FaultEdit, WhatIsNotThereIsAnErrorAndNotAFault) {
  EXPECT_FALSE(edit_ruleset(kText, "chain c_green", "drop", "accept"));
  EXPECT_FALSE(edit_ruleset(kText, "chain c_red", "22 . tcp", ""));
}

// A break that no probe asks for is the proof's to notice.
TEST(FaultParse, TheProofMayBeAskedInPlaceOfTheProbes) {
  SourceMap sources;
  Diagnostics diagnostics;
  const auto faults = parse_faults(
      policy::memory_reader({{"faults.toml",
                              "[[fault]]\nid = \"f\"\nfrom = \"red\"\nto = \"blue\"\n"
                              "proof = \"different\"\nsteps = [{ kill = \"red1\" }]\n"}}),
      "", sources, diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << render(diagnostics, sources, false);
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_TRUE(faults[0].expect.empty());
  EXPECT_EQ(faults[0].proof, MemberProof::State::Different);
}

TEST(FaultParse, ReadsEachKindOfStep) {
  SourceMap sources;
  Diagnostics diagnostics;
  const auto read = [](const std::string&) -> Result<std::string> {
    return R"([[fault]]
id = "f"
what = "w"
from = "red"
to = "blue"
expect = ["Leak", "Outage"]
steps = [
  { change = "fw", block = "chain c_red", find = "drop", text = "accept" },
  { load = "nas1", text = "table ip x {\n}" },
  { run = "red1", command = ["true"] },
  { kill = "red1" },
]
)";
  };
  const auto faults = parse_faults(read, "", sources, diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << render(diagnostics, sources, false);
  ASSERT_EQ(faults.size(), 1U);
  ASSERT_EQ(faults[0].steps.size(), 4U);
  EXPECT_EQ(faults[0].steps[3].kind, FaultStep::Kind::Kill);
  EXPECT_EQ(faults[0].expect.size(), 2U);
}

TEST(FaultCheck, EachMistakeIsToldAtItsPlace) {
  const auto site = bulkhead::testing::memory_site(
      "name = \"one\"\n[tenant.t]\n[segment.red]\ntenant = \"t\"\nvlan = 1\nv4 = \"10.0.0.0/24\"\n"
      "gateway = \"fw\"\ninside = \"open\"\n",
      "[enforcer.fw]\nkind = \"router\"\n[enforcer.fw.legs]\n"
      "e0 = { segment = \"red\", v4 = \"10.0.0.1/24\" }\n"
      "[host.h]\nnic.e0 = { segment = \"red\", v4 = \"10.0.0.5\" }\n");
  const std::string head = "[[fault]]\nid = \"x\"\nexpect = \"Leak\"\n";
  const std::string cell = "from = \"red\"\nto = \"enforcer:fw\"\n";
  const std::pair<std::string, const char*> kMistakes[] = {
      {cell + "steps = [{ chnage = \"fw\", find = \"drop\" }]", "did you mean `change`?"},
      {cell + "steps = [{ find = \"drop\" }]", "a step says one of"},
      {cell + "steps = [{ kill = \"h\", run = \"h\", command = \"true\" }]", "a step says one of"},
      {cell + "steps = [{ run = \"h\" }]", "needs `command`"},
      {cell + "steps = [{ load = \"h\" }]", "needs `text`"},
      {cell + "steps = [{ kill = \"h\", text = \"x\" }]", "unknown key `text` in a `kill` step"},
      {cell + "steps = [{ run = \"h\", command = \"true\", find = \"x\" }]",
       "unknown key `find` in a `run` step"},
      {cell + "proof = \"unequal\"\nsteps = [{ kill = \"h\" }]",
       "`unequal` is nothing that a proof can say"},
      {cell + "steps = [{ kill = \"hh\" }]",
       "faults.toml:6:19: error: there is no host of the lab `hh`"},
      {cell + "steps = [{ change = \"fx\", find = \"drop\" }]", "did you mean `fw`?"},
      {cell + "steps = [{ change = \"fw\", block = \"chain c_rde\", find = \"drop\" }]",
       "the ruleset has no block `chain c_rde`"},
      {"from = \"rad\"\nto = \"red\"\nsteps = [{ kill = \"h\" }]",
       "faults.toml:4:8: error: there is no class `rad`"},
      {"host = \"hx\"\nsteps = [{ kill = \"h\" }]", "there is no host of the lab `hx`"},
      {"from = \"red\"\nsteps = [{ kill = \"h\" }]", "needs `to`"},
      {cell + "steps = [{ kill = \"h\" }]\n" + head + cell + "steps = [{ kill = \"h\" }]",
       "used twice"},
  };
  for (const auto& [text, told] : kMistakes) {
    SourceMap sources;
    Diagnostics diagnostics;
    const auto faults = parse_faults(policy::memory_reader({{"faults.toml", head + text}}), "",
                                     sources, diagnostics);
    if (!diagnostics.has_errors())
      check_faults(site, faults, diagnostics);
    const std::string all = render(diagnostics, sources, false);
    EXPECT_EQ(diagnostics.error_count(), 1U) << all;
    EXPECT_NE(all.find(told), std::string::npos) << told << "\n" << all;
  }
}

// docs/faults.md: each of its examples can be done to the scenario that it speaks of.
TEST(FaultsPage, ItsExamplesApply) {
  const std::filesystem::path source = BULKHEAD_SOURCE_DIR;
  std::ifstream page(source / "docs/faults.md");
  std::string examples;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("```"))
      inside = line == "```toml";
    else if (inside)
      examples += line + "\n";
  }
  const auto site =
      compiler::load_site(source / "scenarios/two-tenants", *policy::parse_date("2026-12-01"));
  ASSERT_TRUE(site.ok());
  SourceMap sources;
  Diagnostics diagnostics;
  const auto faults =
      parse_faults(policy::memory_reader({{"faults.toml", examples}}), "", sources, diagnostics);
  check_faults(site, faults, diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << render(diagnostics, sources, false);
  std::set<FaultStep::Kind> kinds;
  for (const Fault& fault : faults)
    for (const FaultStep& step : fault.steps)
      kinds.insert(step.kind);
  EXPECT_EQ(kinds.size(), 4U);
}

}  // namespace
}  // namespace bulkhead::scenarios
