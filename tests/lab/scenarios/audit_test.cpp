// The whole line on real sockets: what the site means is what the audit finds, and what is broken
// on purpose is found.
#include "scenarios/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "enforcement/backends/netns_thread.h"
#include "lab_fixture.h"
#include "scenarios/faults.h"

namespace bulkhead::scenarios {
namespace {

using probes::Finding;
using ::testing::HasSubstr;

class AuditTest : public testing::LabTest {
 protected:
  AuditOptions options() const {
    AuditOptions options;
    options.agent_program = std::string(BULKHEAD_BINARY_DIR) + "/bin/bulkhead-agent";
    return options;
  }

  policy::ClassId cls(const std::string& name) const {
    const auto& universe = site().matrix.universe;
    return static_cast<policy::ClassId>(universe.find(name) - universe.classes.data());
  }

  // Findings of one cell by family, the worst of each.
  static Finding worst(const AuditResult& result, Family family) {
    Finding worst = Finding::Conforms;
    for (std::size_t i = 0; i < result.plan.probes.size(); ++i)
      if (result.plan.probes[i].from.address.family == family)
        worst = std::max(worst, result.outcome.verdicts[i].finding);
    return worst;
  }

  static Status load(Lab& lab, const std::string& host, const std::string& text) {
    return enforcement::netns_nft(lab.netns_path(host))->load(text);
  }
};

TEST_F(AuditTest, TwoTenantsConformInEveryProbe) {
  const auto result = audit(site(), options());
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->outcome.verdicts.size(), result->plan.probes.size());
  EXPECT_GT(result->plan.probes.size(), 300U);
  for (std::size_t i = 0; i < result->plan.probes.size(); ++i)
    EXPECT_EQ(result->outcome.verdicts[i].finding, Finding::Conforms)
        << result->outcome.verdicts[i].reason;
  EXPECT_TRUE(result->outcome.findings.empty());
}

TEST_F(AuditTest, EachFaultIsCaught) {
  SourceMap sources;
  Diagnostics diagnostics;
  const auto faults = parse_faults(
      policy::folder_reader(std::string(BULKHEAD_SOURCE_DIR) + "/scenarios/two-tenants"), "",
      sources, diagnostics);
  ASSERT_FALSE(diagnostics.has_errors()) << render(diagnostics, sources, false);
  ASSERT_GE(faults.size(), 12U);
  const auto outcomes = run_faults(site(), faults, options(), {});
  ASSERT_TRUE(outcomes) << outcomes.error().message;
  for (const auto& outcome : *outcomes)
    EXPECT_TRUE(outcome.caught) << outcome.id << ": " << to_string(outcome.found) << ", "
                                << outcome.reason;
}

TEST_F(AuditTest, AFaultThatDoesNotApplyIsAnError) {
  Fault fault;
  fault.id = "typo";
  fault.from = "red";
  fault.to = "blue";
  fault.expect = {Finding::Leak};
  fault.steps = {{FaultStep::Kind::Change, "fw", "chain c_green", "drop", "accept", {}}};
  EXPECT_FALSE(run_faults(site(), {fault}, options(), {}));
}

// A01: an accept ends its own base chain only, a later drop is final, and `table ip` sees no IPv6.
TEST_F(AuditTest, AnEarlierForeignAcceptOpensNothing) {
  AuditOptions with = options();
  with.cells = {{cls("red"), cls("blue")}};
  with.before_probing = [](Lab& lab) {
    return load(lab, "fw",
                "table inet other {\nchain early {\ntype filter hook forward priority -25; "
                "policy accept;\naccept\n}\n}");
  };
  const auto result = audit(site(), with);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(worst(*result, Family::V4), Finding::Conforms);
  EXPECT_EQ(worst(*result, Family::V6), Finding::Conforms);
}

TEST_F(AuditTest, ALaterForeignDropOfOneFamilyIsAnOutageOfThatFamily) {
  AuditOptions with = options();
  with.cells = {{cls("red"), cls("storage")}};
  with.before_probing = [](Lab& lab) {
    return load(lab, "fw",
                "table ip other {\nchain late {\ntype filter hook forward priority 10; policy "
                "drop;\nct state established accept\n}\n}");
  };
  const auto result = audit(site(), with);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(worst(*result, Family::V4), Finding::Outage);
  EXPECT_EQ(worst(*result, Family::V6), Finding::Conforms);
}

// A ruleset that changes while a round runs makes the round void; once is run again.
TEST_F(AuditTest, ARulesetThatKeepsChangingDecidesNothing) {
  AuditOptions with = options();
  with.cells = {{cls("red"), cls("blue")}};
  Lab* lab = nullptr;
  with.before_probing = [&](Lab& up) -> Status {
    lab = &up;
    return {};
  };
  int changes = 0;
  with.conduct.evidence_line = [&](const std::string&) {
    static_cast<void>(load(*lab, "fw", "add table inet other" + std::to_string(changes++)));
  };
  const auto result = audit(site(), with);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_GE(result->outcome.void_rounds, 1U);
  EXPECT_EQ(worst(*result, Family::V4), Finding::Inconclusive);
}

// A07: frames between two ports of one segment never meet an IP chain, bridge-netfilter or not.
TEST_F(AuditTest, TheFabricIsNoFirewall) {
  auto lab = Lab::up(site(), {});
  ASSERT_TRUE(lab) << lab.error().message;
  std::string setting = "0";
  ASSERT_TRUE(enforcement::run_in_netns((*lab)->netns_path("fabric"), [&]() -> Status {
    std::ifstream("/proc/sys/net/bridge/bridge-nf-call-iptables") >> setting;
    return {};
  }));
  EXPECT_EQ(setting, "0");
  ASSERT_TRUE(load(**lab, "fw",
                   "table inet shut {\nchain f {\ntype filter hook forward priority "
                   "0; policy drop;\n}\n}"));
  EXPECT_EQ((*lab)->exec("red1", {"ping", "-q", "-c1", "-W2", "10.1.0.12"}).value_or(-1), 0);
}

// B12: with route_localnet on, a neighbour's packet to 127.0.0.1 stops at our input chain.
TEST_F(AuditTest, ANeighbourReachesNoLoopbackService) {
  auto lab = Lab::up(site(), {});
  ASSERT_TRUE(lab) << lab.error().message;
  const auto artifacts = compiler::compile(site(), {});
  ASSERT_TRUE((*lab)->load_rules(rulesets(artifacts)));
  const auto sh = [&](const char* host, const char* command) {
    EXPECT_EQ((*lab)->exec(host, {"bash", "-c", command}).value_or(-1), 0) << command;
  };
  sh("fw", "echo 1 > /proc/sys/net/ipv4/conf/all/route_localnet");
  sh("red1", "echo 1 > /proc/sys/net/ipv4/conf/all/route_localnet");
  sh("red1", "ip address del 127.0.0.1/8 dev lo && ip route add 127.0.0.1/32 via 10.1.0.1");
  sh("red1", "echo x > /dev/udp/127.0.0.1/6000; sleep 0.2");
  const auto listing = enforcement::netns_nft((*lab)->netns_path("fw"))->list_json();
  ASSERT_TRUE(listing) << listing.error().message;
  std::uint64_t dropped = 0;
  const auto ruleset = nlohmann::json::parse(*listing);
  for (const auto& object : ruleset["nftables"]) {
    const auto rule = object.find("rule");
    if (rule == object.end() || (*rule)["chain"] != "input")
      continue;
    for (const auto& part : (*rule)["expr"])
      if (part.contains("counter") && rule->value("comment", "") == "spoofed")
        dropped += part["counter"]["packets"].get<std::uint64_t>();
  }
  EXPECT_GE(dropped, 1U);
}

}  // namespace
}  // namespace bulkhead::scenarios
