// Rules against the policy, for all packets: our own are equal, and each way of breaking them shows
// as what it opens or closes. Listed by the kernel.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/ir.h"
#include "compiler/proof/difference.h"
#include "compiler/proof/rule_loads.h"
#include "compiler/proof/ruleset_json.h"
#include "compiler/targets/nftables.h"
#include "enforcement/backends/nft_sandbox.h"
#include "kernel.h"
#include "nft_cases.h"

namespace bulkhead::test {

namespace {

using namespace compiler::proof;

struct Told {
  Effect effect{};
  Passage passage{};
  Difference difference;
};

std::vector<Told> prove(const compiler::Site& site, const compiler::EnforcerView& view,
                        const std::string& rules) {
  const auto listing = enforcement::list_in_sandbox(rules, {});
  if (!listing)
    throw std::runtime_error(listing.error().message);
  auto ruleset = parse_ruleset(listing->json);
  if (!ruleset)
    throw std::runtime_error(ruleset.error().message);
  mark_unfaithful(*ruleset, listing->loads);
  Diagrams space;
  Endings endings;
  Symbolic symbolic(space, endings, *ruleset);
  const Intent intent = intend(space, site, view);
  const Naming naming(&site);
  std::vector<Told> out;
  for (const Passage passage : kPassages) {
    const Diagram does = doing(symbolic, passage);
    const Comparison comparison =
        compare(space, endings, passage, possible_for(space, *ruleset, passage, does).packets, does,
                of(intent, passage));
    const Differences found = differences(space, comparison, *ruleset, naming, 6);
    for (const Finding& finding : found.findings)
      for (const Difference& difference : finding.differences)
        out.push_back({finding.effect, finding.passage, difference});
  }
  return out;
}

std::string show(const std::vector<Told>& list) {
  std::string out;
  for (const auto& [effect, passage, difference] : list) {
    out += std::string(to_string(effect)) + " " + std::string(to_string(passage)) + ": " +
           difference.box.from + " -> " + difference.box.to + " " + difference.box.traffic + " [" +
           difference.box.state + "] " + difference.box.interfaces + " " + difference.box.others +
           "\n    e.g. " + to_string(difference.example) + "\n";
    for (const std::string& rule : difference.rules)
      out += "      " + rule + "\n";
  }
  return out;
}

std::string compiled(const compiler::Site& site, const compiler::EnforcerView& view) {
  return compiler::nftables(compiler::ir::make_enforcer(site, view)).text;
}

compiler::Site scenario(const std::string& name) {
  return compiler::load_site(
      std::filesystem::path(BULKHEAD_SOURCE_DIR) / "scenarios" / name,
      policy::Date{std::chrono::year{2026}, std::chrono::month{12}, std::chrono::day{1}});
}

TEST(Prove, GoldensAreEqualForAllPackets) {
  if (const std::string missing = Kernel::missing(); !missing.empty())
    GTEST_SKIP() << missing;
  for (const NftCase& nft_case : nft_cases()) {
    const compiler::Site site = nft_case.sketch().site();
    const auto found = prove(site, site.coverage.views.front(), nft_case.sketch().nft());
    EXPECT_TRUE(found.empty()) << nft_case.name << "\n" << show(found);
  }
}

TEST(Prove, ScenariosAreEqualForAllPackets) {
  if (const std::string missing = Kernel::missing(); !missing.empty())
    GTEST_SKIP() << missing;
  for (const std::string name : {"two-tenants", "gpu-pod"}) {
    const compiler::Site site = scenario(name);
    ASSERT_TRUE(site.ok()) << name;
    for (const compiler::EnforcerView& view : site.coverage.views) {
      const auto found = prove(site, view, compiled(site, view));
      EXPECT_TRUE(found.empty()) << name << " " << view.enforcer << "\n" << show(found);
    }
  }
}

// A way to break the rules of two-tenants, and one difference that must be told.
struct Break {
  const char* name;
  const char* find;  // in the compiled text; empty: `put` goes to the end of the file
  const char* put;
  Effect effect;
  const char* from;  // the words that the difference's box holds
  const char* traffic;
};

const Break kBreaks[] = {
    {"an accept before all else",
     "iifname vmap @bh_legs\n    counter drop comment \"unbound\"\n  }\n  chain input",
     "tcp dport 8080 accept\n    iifname vmap @bh_legs\n    counter drop comment \"unbound\"\n  "
     "}\n  chain input",
     Effect::Opens, "", "tcp 8080"},
    {"a drop removed", "counter name \"drops_red\" drop comment \"default\"", "accept",
     Effect::Opens, "red", ""},
    {"a wrong port", "tcp dport 2049 counter accept comment \"R1\"",
     "tcp dport 2050 counter accept comment \"R1\"", Effect::Opens, "red", "tcp 2050"},
    {"a wrong port closes the right one", "tcp dport 2049 counter accept comment \"R1\"",
     "tcp dport 2050 counter accept comment \"R1\"", Effect::Closes, "red", "2049"},
    {"a stateless hole (A09)",
     "ct state established,related jump bh_state\n    ip daddr vmap @d4_blue",
     "tcp sport 80 accept\n    ip daddr vmap @d4_blue", Effect::Opens, "blue", "from port 80"},
    {"replies lost", "ct state established ct direction reply accept comment \"reply\"",
     "ct state established ct direction original accept", Effect::Closes, "", ""},
    {"a family forgotten", "ip6 daddr vmap @d6_red", "", Effect::Closes, "red", "2049"},
    {"source binding lost", "counter drop comment \"spoofed\"\n  }\n  map s4_bond0_102",
     "goto c_red\n  }\n  map s4_bond0_102", Effect::Opens, "nobody's", "2049"},
    {"the egress is not bound",
     "oifname \"bond0.103\" tcp dport 2049 counter accept comment \"B1\"",
     "tcp dport 2049 counter accept comment \"B1\"", Effect::Opens, "blue", "2049"},
    {"UDP 4791 open",
     "iifname vmap @bh_legs\n    counter drop comment \"unbound\"\n  }\n  chain input",
     "udp dport 4791 accept\n    iifname vmap @bh_legs\n    counter drop comment \"unbound\"\n  "
     "}\n  chain input",
     Effect::Opens, "", "udp 4791"},
    {"a later chain of another owner drops", "",
     "table ip other {\n chain f {\n  type filter hook forward priority 10; policy accept;\n"
     "  tcp dport 2049 drop\n }\n}\n",
     Effect::Closes, "", "2049"},
    {"another owner translates an open port to a closed one", "",
     "table ip other {\n chain p {\n  type nat hook prerouting priority -100; policy accept;\n"
     "  ip daddr 10.3.0.11 tcp dport 2049 dnat to 10.3.0.11:22\n }\n}\n",
     Effect::Closes, "red", "2049"},
    {"a limit decides", "oifname \"bond0.103\" tcp dport 2049 counter accept comment \"R1\"",
     "oifname \"bond0.103\" tcp dport 2049 limit rate 1/second counter accept comment \"R1\"",
     Effect::MayClose, "red", "2049"},
    {"the enforcer itself is open", "iifname \"lo\" accept comment \"link\"", "tcp dport 22 accept",
     Effect::Opens, "", "tcp 22"},
};

TEST(Prove, EachBreakShowsAsWhatItOpensOrCloses) {
  if (const std::string missing = Kernel::missing(); !missing.empty())
    GTEST_SKIP() << missing;
  const compiler::Site site = scenario("two-tenants");
  ASSERT_TRUE(site.ok());
  const auto& view = site.coverage.views.front();
  const std::string whole = compiled(site, view);
  for (const Break& one : kBreaks) {
    SCOPED_TRACE(one.name);
    std::string rules = whole;
    if (*one.find == '\0') {
      rules += one.put;
    } else {
      const auto at = rules.find(one.find);
      ASSERT_NE(at, std::string::npos) << "the break no longer fits the rules";
      rules.replace(at, std::string_view(one.find).size(), one.put);
    }
    const auto found = prove(site, view, rules);
    const bool is_told = std::any_of(found.begin(), found.end(), [&](const Told& told) {
      return told.effect == one.effect &&
             told.difference.box.from.find(one.from) != std::string::npos &&
             told.difference.box.traffic.find(one.traffic) != std::string::npos;
    });
    EXPECT_TRUE(is_told) << show(found);
    for (const Told& told : found) {
      EXPECT_TRUE(told.difference.example.is_exact) << show({told});
      EXPECT_FALSE(told.difference.rules.empty()) << show({told});
    }
  }
}

}  // namespace

}  // namespace bulkhead::test
