// Tables beside our own that break or open traffic by what the comparison of packets does not show:
// none of them may be called equal. Each was seen at work on a kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/ir.h"
#include "compiler/proof/doubts.h"
#include "compiler/proof/enforcer_proof.h"
#include "compiler/proof/ruleset_json.h"
#include "compiler/targets/nftables.h"
#include "enforcement/backends/nft_sandbox.h"
#include "kernel.h"
#include "nft_cases.h"

namespace bulkhead::test {

namespace {

using namespace compiler::proof;

compiler::Site two_tenants() {
  return compiler::load_site(
      std::filesystem::path(BULKHEAD_SOURCE_DIR) / "scenarios/two-tenants",
      policy::Date{std::chrono::year{2026}, std::chrono::month{12}, std::chrono::day{1}});
}

EnforcerProof prove(const compiler::Site& site, const compiler::EnforcerView& view,
                    const std::string& rules) {
  const auto listing = enforcement::list_in_sandbox(rules, {});
  if (!listing)
    throw std::runtime_error(listing.error().message);
  const auto ruleset = parse_ruleset(listing->json);
  if (!ruleset)
    throw std::runtime_error(ruleset.error().message);
  return prove_enforcer(site, view, *ruleset);
}

std::string chain(const std::string& head, const std::string& rule) {
  return "chain c {\n type filter hook " + head + ";\n " + rule + "\n}\n";
}

struct Beside {
  const char* name;
  std::string table;
};

std::vector<Beside> all_beside() {
  const auto inet = [](const std::string& head, const std::string& rule) {
    return "table inet z {\n" + chain(head, rule) + "}";
  };
  const auto ip = [](const std::string& head, const std::string& rule) {
    return "table ip z {\n" + chain(head, rule) + "}";
  };
  return {
      {"a zone for one leg", inet("prerouting priority raw", "iifname bond0.103 ct zone set 5")},
      {"a zone by address", inet("prerouting priority raw", "ip saddr 10.3.0.0/24 ct zone set 5")},
      {"a zone behind conntrack", inet("prerouting priority 0", "iifname bond0.103 ct zone set 5")},
      {"fragments dropped early",
       inet("prerouting priority -450", "ip frag-off & 0x1fff != 0 drop")},
      {"fragments have no ports", inet("prerouting priority -400", "udp dport 2049 drop")},
      {"another port early",
       ip("prerouting priority -310", "ip saddr 10.1.0.0/24 tcp dport 22 tcp dport set 2049")},
      {"another port in forward", ip("forward priority -10", "tcp dport 22 tcp dport set 2049")},
      {"another source", ip("postrouting priority 300", "ip saddr set 10.2.0.11")},
      {"another packet type", inet("prerouting priority -150", "meta pkttype set other")},
      {"no hops left", ip("prerouting priority -150", "ip ttl set 0")},
      {"another protocol", ip("postrouting priority 150", "ip protocol set 132")},
      {"another length", ip("postrouting priority 150", "ip length set 5")},
      {"a mark that nobody sets", inet("forward priority -10", "meta mark 7 drop")},
      {"a connection mark that nobody sets", inet("forward priority -10", "ct mark 7 drop")},
      {"a zone that nobody sets", inet("forward priority -10", "ct zone 7 drop")},
      {"arp stopped", "table arp z {\n" + chain("input priority 0", "policy drop;") + "}"},
      {"frames stopped",
       "table bridge z {\n" + chain("prerouting priority 0", "ip daddr 10.3.0.0/24 drop") + "}"},
      {"routed anew",
       "table inet z {\nchain c {\n type route hook output priority 0;\n meta mark set 1\n}\n}"},
  };
}

TEST(Doubts, WhatIsNotFollowedIsNotCalledEqual) {
  if (const std::string missing = Kernel::missing(); !missing.empty())
    GTEST_SKIP() << missing;
  const compiler::Site site = two_tenants();
  ASSERT_TRUE(site.ok());
  const compiler::EnforcerView& view = site.coverage.views.front();
  const std::string ours = compiler::nftables(compiler::ir::make_enforcer(site, view)).text;
  for (const Beside& beside : all_beside())
    EXPECT_FALSE(prove(site, view, ours + beside.table + "\n").holds()) << beside.name;
}

TEST(Doubts, WhatDoesNoHarmIsEqual) {
  if (const std::string missing = Kernel::missing(); !missing.empty())
    GTEST_SKIP() << missing;
  const compiler::Site site = two_tenants();
  ASSERT_TRUE(site.ok());
  const compiler::EnforcerView& view = site.coverage.views.front();
  const std::string ours = compiler::nftables(compiler::ir::make_enforcer(site, view)).text;
  for (const std::string& table :
       {"table inet z {\n" + chain("forward priority 10", "ip dscp set ef") + "}",
        "table inet z {\n" + chain("prerouting priority -450", "counter") + "}",
        "table inet z {\n" + chain("prerouting priority -150", "meta mark set 7") + "}",
        "table inet z {\n" + chain("forward priority -10", "meta skuid 0 drop") + "}",
        "table inet z {\n" + chain("prerouting priority -150", "meta mark set 7 ct mark set 7") +
            "}\ntable inet y {\n" + chain("forward priority -10", "meta mark 8 drop") + "}",
        "table arp z {\n" + chain("input priority 0", "counter") + "}"}) {
    const EnforcerProof proof = prove(site, view, ours + table + "\n");
    EXPECT_TRUE(proof.holds()) << table << (proof.doubts.empty() ? "" : proof.doubts.front());
  }
}

// Our own zones, and each way to spoil them.
TEST(Doubts, ZonesAreThoseOfThePlan) {
  if (const std::string missing = Kernel::missing(); !missing.empty())
    GTEST_SKIP() << missing;
  bool any = false;
  for (const NftCase& nft_case : nft_cases()) {
    const compiler::Site site = nft_case.sketch().site();
    const compiler::EnforcerView& view = site.coverage.views.front();
    std::string text = compiler::nftables(compiler::ir::make_enforcer(site, view)).text;
    EXPECT_THAT(prove(site, view, text).doubts, testing::IsEmpty()) << nft_case.name;
    const std::size_t map = text.find("ct zone set iifname map");
    if (map == std::string::npos)
      continue;
    any = true;
    const std::size_t colon = text.find(" : 1", map);
    ASSERT_NE(colon, std::string::npos);
    text.replace(colon, 4, " : 9");
    EXPECT_FALSE(prove(site, view, text).doubts.empty()) << nft_case.name;
    text.erase(map, text.find('\n', map) - map);
    EXPECT_FALSE(prove(site, view, text).doubts.empty()) << nft_case.name;
  }
  EXPECT_TRUE(any);
}

}  // namespace
}  // namespace bulkhead::test
