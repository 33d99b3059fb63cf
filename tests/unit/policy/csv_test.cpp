#include "policy/support/csv.h"

#include <gmock/gmock.h>

namespace bulkhead {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Reading {
  SourceMap sources;
  Diagnostics diagnostics;
  CsvTable table;

  explicit Reading(std::string text) {
    table = parse_csv(sources.add("x.csv", std::move(text)), sources, diagnostics);
  }
  [[nodiscard]] std::vector<std::string> found() const {
    std::vector<std::string> out;
    for (const auto& item : diagnostics.all())
      out.push_back(std::to_string(item.at.line) + ":" + std::to_string(item.at.column) + " " +
                    item.code);
    return out;
  }
};

TEST(Csv, ReadsQuotesCrlfAndPlaces) {
  Reading reading("id, Why \r\nF1,\"a, \"\"b\"\"\r\nc\"\r\n\r\nF2,x\r\n");
  EXPECT_THAT(reading.found(), IsEmpty());
  ASSERT_EQ(reading.table.rows.size(), 2U);
  EXPECT_EQ(reading.table.rows[0][1].text, "a, \"b\"\r\nc");
  EXPECT_EQ(reading.table.rows[0][1].at, (SourcePos{0, 2, 4}));
  EXPECT_EQ(reading.table.rows[1][0].at, (SourcePos{0, 5, 1}));
  EXPECT_EQ(reading.table.column("why"), 1);
  EXPECT_EQ(reading.table.column("owner"), -1);
}

TEST(Csv, BadRowsAreReportedAndLeftOut) {
  const std::pair<std::string, const char*> cases[] = {
      {"a,b\n1\n", "2:1 csv-ragged"},
      {"a,b\n1,2,3\n", "2:1 csv-ragged"},
      {"a,b\n1,\"2\n", "2:3 csv-syntax"},
      {"a,b\n1,x\"2\"\n", "2:4 csv-syntax"},
      {"a,b\n1,\"2\"x\n", "2:6 csv-syntax"},
      {std::string("a,b\n1,\0\n", 8), "2:3 csv-syntax"},
      {"", "1:1 csv-syntax"},
  };
  for (const auto& [text, expected] : cases) {
    Reading reading(text);
    EXPECT_THAT(reading.found(), ElementsAre(expected)) << text;
    EXPECT_THAT(reading.table.rows, IsEmpty()) << text;
  }
}

TEST(Csv, HeaderIsChecked) {
  Reading reading("id,ownr,id\n");
  check_csv_header(reading.table, {"id", "owner", "why"}, {"id", "why"}, reading.diagnostics);
  EXPECT_THAT(reading.found(),
              ElementsAre("1:4 unknown-column", "1:9 duplicate-column", "1:1 missing-column"));
}

// A cell must not become a formula in the reader's spreadsheet, and must come back as it was.
TEST(Csv, FormulaCellsSurviveTheRoundTrip) {
  const std::pair<const char*, const char*> cases[] = {
      {"plain", "plain"},
      {"=1+1", "'=1+1"},
      {"+1", "'+1"},
      {"-x", "'-x"},
      {"@SUM(A1)", "'@SUM(A1)"},
      {"'=x", "''=x"},
      {"'quoted'", "'quoted'"},
      {"a,b", "\"a,b\""},
      {"a\"b", "\"a\"\"b\""},
      {"a\nb", "\"a\nb\""},
      {"=a,b", "\"'=a,b\""},
      {"", ""},
  };
  for (const auto& [text, written] : cases) {
    EXPECT_EQ(csv_cell(text), written);
    Reading reading("h,i\n" + csv_cell(text) + ",x\n");
    ASSERT_EQ(reading.table.rows.size(), 1U);
    EXPECT_EQ(reading.table.rows[0][0].text, text);
  }
}

}  // namespace
}  // namespace bulkhead
