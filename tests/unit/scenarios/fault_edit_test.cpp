#include "scenarios/fault_edit.h"

#include <gtest/gtest.h>

#include "memory_site.h"
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

}  // namespace
}  // namespace bulkhead::scenarios
