#include "policy/toml_reader.h"

#include <gmock/gmock.h>

namespace bulkhead::policy {
namespace {

struct Reading {
  SourceMap sources;
  Diagnostics diagnostics;
  std::optional<TomlDocument> document;

  explicit Reading(const std::string& text) {
    document = TomlDocument::read(memory_reader({{"x.toml", text}}), "x.toml", "site/", {}, sources,
                                  diagnostics);
  }
  // "line:column code", one for each diagnostic.
  [[nodiscard]] std::vector<std::string> found() const {
    std::vector<std::string> out;
    for (const auto& item : diagnostics.all())
      out.push_back(std::to_string(item.at.line) + ":" + std::to_string(item.at.column) + " " +
                    item.code);
    return out;
  }
};

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST(TomlReader, ReadsEachType) {
  Reading reading(
      "name = \"two\"\nlist = [\"a\", \"b\"]\none = \"a\"\nyes = true\nn = 4094\n"
      "day = 2027-06-30\ntext_day = \"2027-06-30\"\nports = [22, \"1-2\"]\n[t]\nx = 1\n"
      "[[row]]\n[[row]]\n[host.h1]\nnic.eth0 = { v4 = \"x\" }\n");
  ASSERT_TRUE(reading.document);
  auto root = reading.document->root();
  EXPECT_EQ(root.text("name"), "two");
  EXPECT_EQ(root.names("list").size(), 2U);
  EXPECT_EQ(root.names("one").at(0).at, (SourcePos{0, 3, 7}));
  EXPECT_EQ(root.boolean("yes"), true);
  EXPECT_EQ(root.integer("n", 1, 4094), 4094);
  EXPECT_EQ(root.date("day"), root.date("text_day"));
  EXPECT_EQ(root.items("ports").size(), 2U);
  EXPECT_TRUE(root.table("t")->has("x"));
  EXPECT_EQ(root.tables("row").size(), 2U);
  auto hosts = root.named_tables("host");
  ASSERT_EQ(hosts.size(), 1U);
  EXPECT_EQ(hosts[0].first.text, "h1");
  EXPECT_EQ(hosts[0].second.what(), "host `h1`");
  EXPECT_EQ(hosts[0].second.named_tables("nic").at(0).second.text("v4"), "x");
  hosts[0].second.finish();
  root.finish();
  EXPECT_THAT(reading.found(), IsEmpty());
}

TEST(TomlReader, ReportsWrongTypesRangesAndUnknownKeys) {
  Reading reading(
      "vlan = \"x\"\nvlam = 1\nbig = 5000\nday = \"2027-02-30\"\nlist = [1]\nrow = 1\n");
  auto root = reading.document->root();
  EXPECT_FALSE(root.integer("vlan", 1, 4094));
  EXPECT_FALSE(root.integer("big", 1, 4094));
  EXPECT_FALSE(root.date("day"));
  EXPECT_THAT(root.names("list"), IsEmpty());
  EXPECT_THAT(root.tables("row"), IsEmpty());
  EXPECT_FALSE(root.require("name"));
  root.finish();
  EXPECT_THAT(reading.found(),
              ElementsAre("1:8 wrong-type", "3:7 out-of-range", "4:7 bad-date", "5:9 wrong-type",
                          "6:7 wrong-type", "1:1 missing-key", "2:1 unknown-key"));
  EXPECT_EQ(reading.diagnostics.all().back().hint, "did you mean `vlan`?");
}

TEST(TomlReader, ColumnsCountBytes) {
  Reading reading("x = { \"é\" = 1, b = 2 }\n");
  auto root = reading.document->root();
  root.table("x")->finish();
  EXPECT_THAT(reading.found(), UnorderedElementsAre("1:7 unknown-key", "1:17 unknown-key"));
}

TEST(TomlReader, BadFilesAreOneDiagnosticEach) {
  const std::string dots = [] {
    std::string text = "a";
    for (int i = 0; i < 200000; ++i)
      text += ".a";
    return text + " = 1\n";
  }();
  const std::pair<std::string, const char*> cases[] = {
      {"a = \n", "1:5 toml-syntax"},
      {"a = 1\na = 2\n", "2:5 toml-syntax"},
      {"ok = 1\r\nbad\r\n", "2:4 toml-syntax"},
      {std::string("a = \"x\0y\"\n", 10), "1:7 toml-syntax"},
      {"a = \"\xff\"\n", "1:6 not-utf8"},
      {"\xff\xfe"
       "a\0",
       "1:1 not-utf8"},
      {std::string(100000, '['), "1:3 toml-syntax"},
      {"a = " + std::string(100000, '['), "1:261 toml-syntax"},
      {dots, "1:130 nested-too-deeply"},
      {std::string((std::size_t{16} << 20) + 1, ' '), "1:1 file-too-large"},
  };
  for (const auto& [text, expected] : cases) {
    Reading reading(text);
    EXPECT_FALSE(reading.document) << text.substr(0, 40);
    EXPECT_THAT(reading.found(), ElementsAre(expected)) << text.substr(0, 40);
  }
}

TEST(TomlReader, ByteOrderMarkAndCrlfAreFine) {
  Reading reading(
      "\xef\xbb\xbf"
      "vlan = 1\r\nvlam = 2\r\n");
  auto root = reading.document->root();
  EXPECT_EQ(root.integer("vlan", 1, 4094), 1);
  root.finish();
  EXPECT_THAT(reading.found(), ElementsAre("2:1 unknown-key"));
}

TEST(TomlReader, MissingFileIsNamed) {
  SourceMap sources;
  Diagnostics diagnostics;
  EXPECT_FALSE(
      TomlDocument::read(memory_reader({}), "policy.toml", "site/", {}, sources, diagnostics));
  ASSERT_EQ(diagnostics.all().size(), 1U);
  EXPECT_EQ(sources.place(diagnostics.all()[0].at), "site/policy.toml");
}

}  // namespace
}  // namespace bulkhead::policy
