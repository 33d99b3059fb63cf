#include "compiler/matrix_json.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "tests/unit/compiler/site_text.h"

namespace bulkhead {
namespace {

using testing::HasSubstr;

compiler::Site example() {
  return compiler::load_site(std::filesystem::path(BULKHEAD_SOURCE_DIR "/tests/data/example-site"),
                             kToday);
}

TEST(MatrixJson, SurvivesTheRoundTrip) {
  const auto site = example();
  const std::string lines = to_json(site.matrix, site.coverage);
  EXPECT_THAT(
      lines,
      HasSubstr(
          R"({"schema":"bulkhead.matrix/1","from":"ops-mgmt.slurmctld","to":"acme-fe.compute",)"
          R"("allow":[{"proto":"tcp","ports":[6818],"rules":["F7"]}],"cause":"rule","enforcer":"fw")"));
  const auto read = compiler::matrix_from_json(lines, site.matrix.universe);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  ASSERT_EQ(read->cells.size(), site.matrix.cells.size());
  for (std::size_t i = 0; i < read->cells.size(); ++i) {
    EXPECT_EQ(read->cells[i].from, site.matrix.cells[i].from);
    EXPECT_EQ(read->cells[i].to, site.matrix.cells[i].to);
    EXPECT_EQ(read->cells[i].everything, site.matrix.cells[i].everything);
    EXPECT_EQ(read->cells[i].pieces, site.matrix.cells[i].pieces);
  }
  compiler::Coverage again;
  again.n = site.coverage.n;
  again.cells = read->coverage;
  EXPECT_EQ(to_json(site.matrix, again), lines);
}

TEST(MatrixJson, KeepsEveryKindOfTraffic) {
  policy::Universe universe;
  universe.classes = {{"a", {}, {}, {}, {}, {}, {}}, {"b", {}, {}, {}, {}, {}, {}}};
  policy::Cell cell{0, 1, false, {}};
  using policy::Action;
  using policy::Kind;
  cell.pieces = {{{Kind::Tcp, 0, {}}, {22, 22}, Action::Allow, {"F1"}},
                 {{Kind::Tcp, 0, {}}, {100, 65535}, Action::Deny, {"F1", "F2"}},
                 {{Kind::Sctp, 0, {}}, {0, 7}, Action::Allow, {"F1"}},
                 {{Kind::Icmp, 0, {}}, {0, 1}, Action::Allow, {"F1"}},
                 {{Kind::Ip, 47, {}}, {0, 0}, Action::Allow, {"F1"}},
                 {{Kind::Ip, 112, Address::parse("224.0.0.18")}, {0, 0}, Action::Allow, {"F1"}},
                 {{Kind::Dhcp, 0, {}}, {0, 0}, Action::Allow, {"F1"}},
                 {{Kind::Roce, 0, {}}, {0, 0}, Action::Allow, {"F1"}}};
  policy::Matrix matrix{universe, kToday, {cell}, {}};
  compiler::Coverage coverage;
  coverage.n = 2;
  for (policy::ClassId i = 0; i < 4; ++i)
    coverage.cells.push_back({i / 2, i % 2, compiler::Cause::None, {}, {}, {}, {}});
  const auto read = compiler::matrix_from_json(to_json(matrix, coverage), universe);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  ASSERT_EQ(read->cells.size(), 1U);
  EXPECT_EQ(read->cells[0].pieces, cell.pieces);
}

TEST(MatrixJson, RefusesWhatItDoesNotKnow) {
  policy::Universe universe;
  universe.classes = {{"a", {}, {}, {}, {}, {}, {}}};
  const std::pair<const char*, const char*> cases[] = {
      {R"({)", "line 1"},
      {R"([])", "line 1"},
      {R"({"schema":"bulkhead.matrix/2"})", "schema"},
      {R"({"schema":"bulkhead.matrix/1","from":"a","to":"a","allow":[],"cause":"rule","x":1})",
       "unknown field `x`"},
      {R"({"schema":"bulkhead.matrix/1","from":"a","to":"b","allow":[],"cause":"rule"})",
       "class `b`"},
      {R"({"schema":"bulkhead.matrix/1","from":"a","to":"a","allow":[],"cause":"luck"})",
       "unknown word `luck`"},
      {R"({"schema":"bulkhead.matrix/1","from":"a","to":"a","allow":[{"proto":"tcp","ports":[65536],"rules":[]}],"cause":"rule"})",
       "65536"},
      {R"({"schema":"bulkhead.matrix/1","from":"a","to":"a","allow":[{"proto":"tcp","ports":["9-x"],"rules":[]}],"cause":"rule"})",
       "`x` is no port"},
      {R"({"schema":"bulkhead.matrix/1","from":"a","to":"a","allow":[{"proto":"icmp","types":["echo","x"],"rules":[]}],"cause":"rule"})",
       "types"},
  };
  for (const auto& [line, why] : cases) {
    const auto read = compiler::matrix_from_json(line, universe);
    ASSERT_FALSE(read.has_value()) << line;
    EXPECT_THAT(read.error().message, HasSubstr(why));
  }
}

}  // namespace
}  // namespace bulkhead
