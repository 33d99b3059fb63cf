// Each code of lint by a ruleset that shows it, and by its nearest neighbour that does not.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "compiler/lint/lint.h"
#include "scenarios/listing.h"

namespace bulkhead::test {

namespace {

using compiler::lint::Finding;

struct Row {
  std::string code;
  std::string shows, does_not;  // nft's language; JSON of a listing where it begins with "{"
};

std::string hook(const std::string& rules,
                 const std::string& head = "forward priority 0; policy drop",
                 const std::string& family = "inet") {
  return "table " + family + " t {\n chain f {\n  type filter hook " + head + ";\n  " + rules +
         "\n }\n}\n";
}
std::string beside(const std::string& before, const std::string& rules) {
  return "table inet t {\n " + before +
         "\n chain f {\n  type filter hook forward priority 0; policy drop;\n  " + rules +
         "\n }\n}\n";
}
// This kernel has no flow tables, and an interface that is gone is only in what is loaded.
std::string listed(const std::string& expressions) {
  return R"({"nftables": [{"metainfo": {"json_schema_version": 1}},
    {"table": {"family": "inet", "name": "t", "handle": 1}},
    {"chain": {"family": "inet", "table": "t", "name": "f", "handle": 1, "type": "filter",
               "hook": "forward", "prio": 0, "policy": "drop"}},
    {"rule": {"family": "inet", "table": "t", "chain": "f", "handle": 2, "expr": [)" +
         expressions + "]}}]}";
}

std::vector<Row> rows() {
  const std::string reply = "ct state established ct direction reply accept\n  ";
  const std::string kNeighbours = "icmpv6 type { 133-136 } ip6 hoplimit 255 accept\n  ";
  const std::string input = "input priority 0; policy drop";
  const std::string nat =
      "table ip n {\n chain p {\n  type nat hook postrouting priority srcnat;\n  oifname w "
      "masquerade\n }\n}\n";
  const std::string open = "forward priority 0; policy accept";
  return {
      {"shadowed", hook("tcp dport 22 accept\n  ip saddr 10.0.0.1 tcp dport 22 drop"),
       hook("tcp dport 22 accept\n  ip saddr 10.0.0.1 tcp dport 23 drop")},
      {"never-matches", hook("ip saddr 10.0.0.1 ip saddr 10.0.0.2 accept"),
       hook("ip saddr 10.0.0.1 ip daddr 10.0.0.2 accept")},
      {"unused-chain", beside("chain c {\n  accept\n }", "tcp dport 22 accept"),
       beside("chain c {\n  accept\n }", "tcp dport 22 jump c")},
      {"unreached-chain",
       beside("chain c {\n  accept\n }", "ip saddr 10.0.0.1 ip saddr 10.0.0.2 jump c"),
       beside("chain c {\n  accept\n }", "ip saddr 10.0.0.1 jump c")},
      {"no-effect", hook("ip saddr 10.0.0.1 udp dport 53 accept\n  udp dport 53 accept"),
       hook("ip saddr 10.0.0.1 udp dport 53 counter accept\n  udp dport 53 accept")},
      {"no-chain", "table inet t {\n chain c {\n  accept\n }\n}\n",
       beside("chain i {\n  type filter hook input priority 0; policy drop;\n  accept\n }",
              "accept")},
      {"fails-open", hook("tcp dport 22 drop", open), hook("tcp dport 22 drop\n  drop", open)},
      {"family-forgotten", hook("tcp dport 22 accept", "forward priority 0; policy drop", "ip"),
       hook("tcp dport 22 accept")},
      {"neighbour-discovery", hook("tcp dport 22 accept", input),
       hook(kNeighbours + "tcp dport 22 accept", input)},
      {"no-answers", hook("tcp dport 22 accept"), hook(reply + "tcp dport 22 accept")},
      {"invalid-passes", hook("ct state new drop\n  accept", open),
       hook("ct state { new, invalid } drop\n  accept", open)},
      {"invalid-unhandled", hook("ct state established accept\n  tcp dport 22 accept") + nat,
       hook("ct state established accept\n  tcp dport 22 accept")},
      {"source-port-opens", hook("tcp sport 80 accept"),
       hook("tcp sport 80 ct state established accept")},
      {"equal-priority",
       hook("meta mark set 1") + "table inet u {\n chain g {\n  type filter hook forward priority "
                                 "0; policy accept;\n  meta mark 1 drop\n }\n}\n",
       hook("meta mark set 1") + "table inet u {\n chain g {\n  type filter hook forward priority "
                                 "1; policy accept;\n  meta mark 1 drop\n }\n}\n"},
      // The kernel takes the narrower one first, or not at all.
      {"overlapping-elements",
       hook("ip saddr . tcp dport vmap { 10.0.0.9 . 22 : drop, 10.0.0.0/24 . 1-100 : accept }"),
       hook("ip saddr . tcp dport vmap { 10.0.0.0/24 . 1-100 : accept, 10.0.1.9 . 22 : drop }")},
      {"covered-elements",
       hook("ip saddr . tcp dport vmap { 10.0.0.9 . 22 : drop, 10.0.0.0/24 . 1-100 : drop }"),
       hook("ip saddr . tcp dport vmap { 10.0.0.0/24 . 1-100 : drop, 10.0.0.9 . 101 : drop }")},
      {"empty-set", beside("set s {\n  type ipv4_addr\n }", "ip saddr @s accept"),
       beside("set s {\n  type ipv4_addr\n  elements = { 10.0.0.1 }\n }", "ip saddr @s accept")},
      {"unused-set", beside("set s {\n  type ipv4_addr\n }", "accept"),
       beside("set s {\n  type ipv4_addr\n }", "ip saddr @s accept")},
      {"unknown-interface", hook("iifname \"eth7\" accept"), hook("iifname \"eth*\" accept")},
      {"gone-interface",
       listed(R"({"match": {"op": "==", "left": {"meta": {"key": "iif"}}, "right": "7"}},
                 {"accept": null})"),
       hook("iif 7 accept")},
      {"dormant-table", "table ip old {\n flags dormant\n}\n" + hook("accept"), hook("accept")},
      {"flowtable-skips",
       listed(R"({"flow": {"op": "add", "flowtable": "@fast"}}, {"accept": null})"),
       listed(R"({"accept": null})")},
      {"next-header", hook("ip6 nexthdr tcp accept"), hook("meta l4proto tcp accept")},
      {"joined-comparison", hook("tcp sport != 5 tcp dport != 80 accept"),
       hook("tcp sport != { 5, 6 } tcp dport != 80 accept")},
      {"host-bits", hook("ip saddr 10.1.2.3/8 accept"), hook("ip saddr 10.0.0.0/8 accept")},
      {"outside-model", hook("rt classid 7 accept"), hook("meta mark 7 accept")},
  };
}

std::set<std::string, std::less<>> codes_of(const std::string& rules) {
  const bool is_json = rules.starts_with('{');
  const auto listing = is_json ? Result<scenarios::Listing>({"a listing", rules, {}, {}, false})
                               : scenarios::list_text("a file", rules, {});
  if (!listing) {
    ADD_FAILURE() << rules << listing.error().message;
    return {};
  }
  const auto ruleset = scenarios::ruleset_of(*listing);
  if (!ruleset)
    throw std::runtime_error(ruleset.error().message);
  compiler::lint::Options options;
  options.interfaces = {"eth0", "eth1"};
  options.whose = "legs of fw";
  if (!is_json)
    options.text = rules;
  std::set<std::string, std::less<>> out;
  for (const Finding& finding : compiler::lint::lint(*ruleset, options).findings)
    out.emplace(finding.code);
  return out;
}

TEST(LintCodes, EachIsShownAndItsNeighbourIsNot) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "needs root";
  for (const Row& row : rows()) {
    SCOPED_TRACE(row.code);
    EXPECT_TRUE(codes_of(row.shows).contains(row.code)) << row.shows;
    EXPECT_FALSE(codes_of(row.does_not).contains(row.code)) << row.does_not;
  }
}

// What docs/lint.md tells is what is tested here.
TEST(LintCodes, AllAreThere) {
  std::set<std::string> tested;
  for (const Row& row : rows())
    tested.insert(row.code);
  std::ifstream file(std::string(BULKHEAD_SOURCE_DIR) + "/docs/lint.md");
  std::set<std::string> told;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| `"))
      continue;
    const std::string codes = line.substr(0, line.find('|', 1));
    for (std::size_t at = codes.find('`'); at != std::string::npos; at = codes.find('`', at)) {
      const std::size_t end = codes.find('`', at + 1);
      told.insert(codes.substr(at + 1, end - at - 1));
      at = end + 1;
    }
  }
  EXPECT_EQ(told, tested);
}

}  // namespace

}  // namespace bulkhead::test
