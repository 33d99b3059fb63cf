// What a lab is made of, without making one.
#include "scenarios/lab_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "memory_site.h"
#include "scenarios/lab_build.h"

namespace bulkhead::scenarios {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

constexpr const char* kPolicy = R"(
name = "pod"
[tenant.ops]
[tenant.acme]
[tenant.bolt]
[vrf.acme]
table = 101
[vrf.bolt]
table = 102
[segment.mgmt]
tenant = "ops"
vlan = 10
v4 = "10.0.0.0/24"
v6 = "fd00::/64"
gateway = "fw"
inside = "open"
[segment.bmc]
tenant = "ops"
vlan = 9
v4 = "10.9.0.0/24"
gateway = "fw"
inside = "isolated"
isolated_by = "sw"
[segment.acme-fe]
tenant = "acme"
vlan = 11
vrf = "acme"
v4 = "10.1.0.0/24"
gateway = "leaf"
inside = "open"
[segment.bolt-roce]
tenant = "bolt"
vlan = 12
vrf = "bolt"
v4 = "10.2.0.0/24"
gateway = "leaf"
inside = "open"
[segment.pods]
tenant = "ops"
behind = "mgmt.worker"
v4 = "10.244.0.0/16"
inside = "open"
[external.world]
v4 = "rest"
)";

constexpr const char* kInventory = R"(
[enforcer.fw]
kind = "router"
manage = "bulkhead"
members = ["fw-a", "fw-b"]
[enforcer.fw.legs]
"e.10" = { segment = "mgmt", v4 = "10.0.0.1/24", v6 = "fd00::1/64" }
"e.9" = { segment = "bmc", v4 = "10.9.0.1/24" }
"e.40" = { vrf = "acme", behind = ["acme-*"] }
"e.99" = { external = "world", v4 = "203.0.113.2/29" }
[enforcer.leaf]
kind = "switch"
manage = "declared"
separates = ["vlan", "vrf"]
[enforcer.sw]
kind = "switch"
manage = "declared"
separates = ["port"]
accept_silence = { why = "private VLAN", owner = "net", expires = 2099-12-31 }
[host.w1]
labels = ["worker"]
nic.eth0 = { segment = "mgmt", v4 = "10.0.0.11", v6 = "fd00::11" }
[host.bmc1]
agentless = true
nic.p = { segment = "bmc", v4 = "10.9.0.11" }
[host.gpu1]
forwards = false
nic.eth0 = { segment = "acme-fe", v4 = "10.1.0.11" }
nic.eth1 = { segment = "bolt-roce", v4 = "10.2.0.11" }
)";

class LabPlanTest : public ::testing::Test {
 protected:
  const compiler::Site site_ = bulkhead::testing::memory_site(kPolicy, kInventory);
  const LabPlan plan_ = plan_lab(site_);

  const PlannedNetns& node(const std::string& name) const {
    const auto* found = plan_.find(name);
    if (found == nullptr)
      throw std::runtime_error("no node " + name);
    return *found;
  }
  std::string batch(const std::string& name) const { return node_batch(node(name)); }
};

TEST_F(LabPlanTest, OneNamespaceForEachHostMemberVrfAndExternal) {
  std::vector<std::string> names;
  for (const auto& planned : plan_.nodes)
    names.push_back(planned.name);
  EXPECT_THAT(names, UnorderedElementsAre("fw-a", "fw-b", "leaf.acme", "leaf.bolt", "w1", "bmc1",
                                          "gpu1", "external:world"));
}

TEST_F(LabPlanTest, LegsKeepTheirNamesAndAddresses) {
  EXPECT_THAT(batch("fw-a"), HasSubstr("address add 10.0.0.1/24 dev e.10\n"));
  EXPECT_THAT(batch("fw-a"), HasSubstr("address add fd00::1/64 dev e.10 nodad\n"));
  EXPECT_TRUE(node("fw-a").forwards);
}

TEST_F(LabPlanTest, TheStandbyMemberHasTheLegsDownAndNoRoutes) {
  EXPECT_EQ(node("fw-b").role, Role::Standby);
  EXPECT_EQ(node("fw-b").links.size(), 4U);
  EXPECT_THAT(batch("fw-b"), Not(HasSubstr("link set e.10 up")));
  EXPECT_THAT(node("fw-b").routes, IsEmpty());
}

TEST_F(LabPlanTest, AHostWithTwoNicsAnswersEachAddressByItsOwn) {
  const auto& gpu = node("gpu1");
  EXPECT_FALSE(gpu.forwards);
  EXPECT_EQ(rule_batch(gpu, Family::V4),
            "rule add from 10.1.0.11 lookup 100 priority 1000\n"
            "rule add from 10.2.0.11 lookup 101 priority 1000\n");
  EXPECT_THAT(batch("gpu1"), HasSubstr("route add 0.0.0.0/0 via 10.1.0.1 dev eth0\n"));
  EXPECT_THAT(batch("gpu1"), HasSubstr("route add 0.0.0.0/0 via 10.2.0.1 dev eth1 table 101\n"));
}

TEST_F(LabPlanTest, AVrfWithoutATransitLegHasNoWayOutAndSaysSo) {
  EXPECT_THAT(batch("leaf.bolt"), HasSubstr("route add unreachable 10.0.0.0/24\n"));
  EXPECT_THAT(batch("leaf.bolt"), HasSubstr("route add unreachable 10.1.0.0/24\n"));
  EXPECT_THAT(batch("leaf.bolt"), HasSubstr("route add unreachable 0.0.0.0/0\n"));
}

TEST_F(LabPlanTest, ATransitLegLeadsBothWays) {
  EXPECT_THAT(batch("fw-a"),
              ::testing::ContainsRegex("route add 10.1.0.0/24 via 169.254.* dev e.40"));
  EXPECT_THAT(batch("leaf.acme"),
              ::testing::ContainsRegex("route add 10.0.0.0/24 via 169.254.* dev up-e.40"));
  EXPECT_THAT(batch("fw-a"), HasSubstr("route add unreachable 10.2.0.0/24\n"));
}

TEST_F(LabPlanTest, AddressesBehindAHostStandOnItAndAreRoutedViaIt) {
  EXPECT_THAT(batch("w1"), HasSubstr("address add 10.244.1.10/32 dev eth0\n"));
  EXPECT_THAT(batch("fw-a"), HasSubstr("route add 10.244.0.0/16 via 10.0.0.11 dev e.10\n"));
}

TEST(LabPlan, HostsOfABehindSegmentAreReachedThroughARouter) {
  const auto site = bulkhead::testing::memory_site(
      kPolicy, std::string(kInventory) +
                   "[host.pod1]\nnic.eth0 = { segment = \"pods\", v4 = \"10.244.3.3\" }\n");
  const LabPlan plan = plan_lab(site);
  const PlannedNetns* router = plan.find("behind:pods");
  ASSERT_NE(router, nullptr);
  EXPECT_TRUE(router->forwards);
  EXPECT_THAT(node_batch(*router), HasSubstr("address add 10.0.0.254/24 dev outer\n"));
  EXPECT_THAT(node_batch(*router), HasSubstr("address add 10.244.255.254/16 dev inner\n"));
  EXPECT_THAT(node_batch(*router), HasSubstr("route add 0.0.0.0/0 via 10.0.0.1 dev outer\n"));
  EXPECT_THAT(node_batch(*plan.find("pod1")),
              HasSubstr("route add 0.0.0.0/0 via 10.244.255.254 dev eth0\n"));
  const std::string gateway = node_batch(*plan.find("fw-a"));
  EXPECT_THAT(gateway, HasSubstr("route add 10.244.0.0/16 via 10.0.0.254 dev e.10\n"));
  EXPECT_THAT(gateway, HasSubstr("route add 10.244.1.10/32 via 10.0.0.11 dev e.10\n"));
  // Neighbours do not go through the gateway: it lets nothing back out of the leg it came in by.
  EXPECT_THAT(node_batch(*plan.find("w1")),
              HasSubstr("route add 10.244.0.0/16 via 10.0.0.254 dev eth0\n"));
  EXPECT_THAT(node_batch(*router), HasSubstr("route add 10.244.1.10/32 via 10.0.0.11 dev outer\n"));
}

TEST_F(LabPlanTest, TheOutsideHasAnAddressOfItsOwnBehindTheLeg) {
  EXPECT_THAT(batch("external:world"), HasSubstr("address add 203.0.113.1/29 dev up0\n"));
  EXPECT_THAT(batch("external:world"), HasSubstr("address add 198.51.100.10/32 dev up0\n"));
  EXPECT_THAT(batch("fw-a"), HasSubstr("route add 0.0.0.0/0 via 203.0.113.1 dev e.99\n"));
}

TEST_F(LabPlanTest, PortsOfAnIsolatedSegmentAreIsolatedAndItsGatewayIsNot) {
  EXPECT_TRUE(node("bmc1").links.at(0).isolated);
  for (const auto& link : node("fw-a").links)
    EXPECT_FALSE(link.isolated) << link.interface;
}

TEST_F(LabPlanTest, TheFabricHasALinkForEachInterface) {
  std::vector<std::string> netns;
  for (const auto& planned : plan_.nodes)
    netns.push_back("ns-" + planned.name);
  const std::string text = fabric_batch(plan_, netns);
  EXPECT_THAT(text, HasSubstr("type veth peer name e.10 netns ns-fw-a\n"));
  EXPECT_THAT(text, HasSubstr("type bridge_slave isolated on\n"));
}

TEST(InterfaceName, FitsTheKernelAndStaysItself) {
  EXPECT_EQ(interface_name("bond0.101"), "bond0.101");
  const std::string long_name = interface_name("a-very-long-segment-name");
  EXPECT_LE(long_name.size(), 15U);
  EXPECT_NE(long_name, interface_name("a-very-long-segment-nama"));
}

TEST(Glob, StarIsAnyText) {
  EXPECT_TRUE(glob_matches("acme-*", "acme-fe"));
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_TRUE(glob_matches("a*c*e", "abcde"));
  EXPECT_FALSE(glob_matches("acme-*", "bolt-fe"));
  EXPECT_FALSE(glob_matches("acme", "acme-fe"));
}

}  // namespace
}  // namespace bulkhead::scenarios
