#include "compiler/inventory.h"

#include <gmock/gmock.h>

#include "compiler/inventory_checks.h"
#include "compiler/placement.h"
#include "tests/unit/compiler/site_text.h"

namespace bulkhead {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kPolicy = R"(name = "two"
[tenant.red]
[tenant.blue]
[vrf.red]
table = 101
[segment.red-fe]
tenant = "red"
vlan = 11
vrf = "red"
v4 = "10.1.0.0/24"
v6 = "fd00:1::/64"
gateway = "fw"
inside = "open"
[segment.red-be]
tenant = "red"
vlan = 12
vrf = "red"
v4 = "10.2.0.0/24"
gateway = "fw"
inside = "open"
[segment.blue-fe]
tenant = "blue"
vlan = 21
v4 = "10.3.0.0/24"
gateway = "fw"
inside = "open"
[segment.pods]
tenant = "red"
behind = "red-fe.worker"
v4 = "10.244.0.0/16"
inside = "open"
[external.world]
v4 = "rest"
)";

constexpr std::string_view kEnforcer = R"([enforcer.fw]
kind = "router"
[enforcer.fw.legs]
r0 = { segment = "red-fe", v4 = "10.1.0.1/24", v6 = "fd00:1::1/64" }
r1 = { segment = "red-be", v4 = "10.2.0.1/24" }
b0 = { segment = "blue-fe", v4 = "10.3.0.1/24" }
w0 = { external = "world", v4 = "203.0.113.2/29" }
)";  // seven lines: what a test adds begins at line 8

constexpr std::string_view kWorker = R"([host.w1]
labels = ["worker"]
nic.e0 = { segment = "red-fe", v4 = "10.1.0.21", v6 = "fd00:1::21" }
)";

compiler::Site with(std::string_view facts, std::map<std::string, std::string> files = {}) {
  return site_of(std::string(kPolicy), std::string(kEnforcer) + std::string(facts),
                 std::move(files));
}

TEST(Inventory, HostlistsExpandSideBySide) {
  const auto site = with(std::string(kWorker) + R"([host."r[08-10]"]
labels = ["compute", "gpu"]
ssh = "r[08-10].mgmt"
nic.e0 = { segment = "red-fe", v4 = "10.1.0.[108-110]", v6 = "fd00:1::[8-10]", switch = "leaf1", port = "swp[8-10]" }
)");
  ASSERT_TRUE(site.ok()) << rendered(site);
  const compiler::Host& last = site.inventory.hosts.at("r10");
  EXPECT_EQ(last.ssh, "r10.mgmt");
  EXPECT_THAT(last.labels, ElementsAre("compute", "gpu"));
  ASSERT_EQ(last.nics.size(), 1U);
  EXPECT_EQ(last.nics[0].v4.at(0).str(), "10.1.0.110");
  EXPECT_EQ(last.nics[0].v6.at(0).str(), "fd00:1::10");
  EXPECT_EQ(last.nics[0].switch_name, "leaf1");
  EXPECT_EQ(last.nics[0].switch_port, "swp10");
  EXPECT_EQ(site.inventory.hosts.at("w1").ssh, "w1");
  const policy::Class* cls = site.matrix.universe.find("red-fe.compute+gpu");
  ASSERT_NE(cls, nullptr);
  EXPECT_EQ(of_family(cls->addresses, Family::V4).size(), 1U);  // 108-110, merged
}

TEST(Inventory, RowsOfACsvAndATableMakeOneHost) {
  const auto site = with(std::string("hosts = \"inv.csv\"\n"), {});
  EXPECT_FALSE(site.ok());  // the key belongs before the tables: kEnforcer ends in one

  const auto good =
      site_of(std::string(kPolicy),
              "hosts = \"inv.csv\"\n" + std::string(kEnforcer) + std::string(kWorker) +
                  "[host.r1]\nlabels = [\"compute\"]\nforwards = false\n",
              {{"inv.csv",
                "host,nic,mac,segment,v4,v6,port_guid,switch,port\n"
                "r1,e0,02:00:00:00:00:01,red-fe,10.1.0.31 10.1.0.32,fd00:1::31,,leaf1,swp1\n"
                "r1,e1,02:00:00:00:00:02,blue-fe,10.3.0.31,,0x0002c90300000001,leaf2,swp1\n"
                "s1,e0,,red-be,10.2.0.31,,,,\n"}});
  ASSERT_TRUE(good.ok()) << rendered(good);
  const compiler::Host& host = good.inventory.hosts.at("r1");
  ASSERT_EQ(host.nics.size(), 2U);
  EXPECT_EQ(host.nics[0].v4.size(), 2U);
  EXPECT_EQ(host.nics[0].mac->at(5), 1);
  EXPECT_EQ(host.nics[1].port_guid, "0x0002c90300000001");
  EXPECT_EQ(host.nics[1].switch_name, "leaf2");
  EXPECT_NE(good.matrix.universe.find("red-fe.compute"), nullptr);
  EXPECT_NE(good.matrix.universe.find("blue-fe.compute"), nullptr);
  EXPECT_NE(good.matrix.universe.find("red-be"), nullptr);
}

TEST(Inventory, MistakesAreToldAtTheirLine) {
  struct Case {
    const char* facts;
    const char* finding;
  };
  const Case cases[] = {
      {"[host.h]\nnic.e0 = { segment = \"red-f\", v4 = \"10.1.0.5\" }\n",
       "error unknown-name inventory.toml:12"},
      {"[host.h]\nnic.e0 = { segment = \"red-fe\", v4 = \"10.2.0.5\" }\n",
       "error address-outside-segment inventory.toml:12"},
      {"[host.h]\nnic.e0 = { segment = \"red-fe\", v4 = \"10.1.0.255\" }\n",
       "error address-outside-segment inventory.toml:12"},
      {"[host.h]\nnic.e0 = { segment = \"red-fe\", v4 = \"10.1.0.21\" }\n",
       "error duplicate-address inventory.toml:12"},
      {"[host.h]\nnic.e0 = { segment = \"red-fe\", v4 = \"10.1.0.1\" }\n",
       "error duplicate-address inventory.toml:12"},
      {"[host.h]\nnic.e0 = { segment = \"red-fe\" }\n", "error missing-address inventory.toml:12"},
      {"[host.h]\nnic.averylonginterface = { segment = \"red-fe\", v4 = \"10.1.0.5\" }\n",
       "error interface-name inventory.toml:12"},
      {"[host.h]\nnic.\"e*\" = { segment = \"red-fe\", v4 = \"10.1.0.5\" }\n",
       "error interface-name inventory.toml:12"},
      {"[host.h]\nnic.lo = { segment = \"red-fe\", v4 = \"10.1.0.5\" }\n",
       "error interface-name inventory.toml:12"},
      {"[host.h]\nnic.all = { segment = \"red-fe\", v4 = \"10.1.0.5\" }\n",
       "error interface-name inventory.toml:12"},
      {"[host.h]\nnic.e0 = { segment = \"red-fe\", v4 = \"10.1.0.5/24\" }\n",
       "error bad-address inventory.toml:12"},
      {"[host.h]\nnic.e0 = { segment = \"red-fe\", v4 = \"fd00:1::5\" }\n",
       "error bad-address inventory.toml:12"},
      {"[host.h]\nnic.e0 = { segment = \"red-fe\", v4 = \"10.1.0.5\" }\nnic.e1 = { segment = "
       "\"blue-fe\", v4 = \"10.3.0.5\" }\n",
       "error forwards-unsaid inventory.toml:11"},
      {"[host.h]\nforwards = true\nnic.e0 = { segment = \"red-fe\", v4 = \"10.1.0.5\" }\nnic.e1 = "
       "{ segment = \"blue-fe\", v4 = \"10.3.0.5\" }\n",
       "error forwards-between-tenants inventory.toml:11"},
      {"[host.\"h[1-3]\"]\nnic.e0 = { segment = \"red-fe\", v4 = \"10.1.0.[5-6]\" }\n",
       "error hostlist-count inventory.toml:12"},
      {"[host.\"h[3-1]\"]\n", "error bad-hostlist inventory.toml:11"},
      {"[host.h]\nstate = \"spare\"\nlabels = [\"x\"]\n",
       "error spare-with-labels inventory.toml:11"},
      {"[host.h]\nstate = \"idle\"\nnic.e0 = { segment = \"red-fe\", v4 = \"10.1.0.5\" }\n",
       "error bad-state inventory.toml:12"},
      {"[host.h]\nlabels = [\"a.b\"]\nnic.e0 = { segment = \"red-fe\", v4 = \"10.1.0.5\" }\n",
       "error bad-name inventory.toml:12"},
      {"[host.h]\n", "warning host-without-nic inventory.toml:11"},
      {"[host.h]\nstand_in = \"w1\"\nnic.e0 = { segment = \"red-fe\", v4 = \"10.1.0.5\" }\n",
       "error stand-in inventory.toml:11"},
      {"[host.h]\nstand_in = \"w2\"\nnic.e0 = { segment = \"red-fe\", v4 = \"10.1.0.5\" }\n",
       "error stand-in inventory.toml:11"},
      {"[host.fw]\nnic.e0 = { segment = \"red-fe\", v4 = \"10.1.0.5\" }\n",
       "error name-collision inventory.toml:11"},
      {"[host.any]\n", "error reserved-name inventory.toml:11"},
      {"[host.h]\nlabel = [\"x\"]\nnic.e0 = { segment = \"red-fe\", v4 = \"10.1.0.5\" }\n",
       "error unknown-key inventory.toml:12"},
      {"[host.h]\nnic.e0 = { segment = \"red-fe\", v4 = \"10.1.0.5\", mac = \"02:00:00:00:00\" }\n",
       "error bad-mac inventory.toml:12"},
      // handed C08: without 0x it would be read as decimal, all zero is no port
      {"[host.h]\nnic.e0 = { segment = \"red-fe\", v4 = \"10.1.0.5\", port_guid = \"100001\" }\n",
       "error bad-guid inventory.toml:12"},
      {"[host.h]\nnic.e0 = { segment = \"red-fe\", v4 = \"10.1.0.5\", port_guid = \"0x00\" }\n",
       "error bad-guid inventory.toml:12"},
      {"[host.h]\nnic.e0 = { segment = \"red-fe\", v4 = \"10.1.0.5\", port_guid = \"no.csv\" }\n",
       "error cannot-read inventory.toml:12"},
      {"[probe]\nnever = [\"x\"]\n", "error bad-address inventory.toml:12"},
      {"[probe]\nnever = [\"2001:db8::1\"]\n", "warning never-unknown inventory.toml:12"},
      {"[probe]\ncanary_ports = [0]\n", "error out-of-range inventory.toml:12"},
      {"[enforcer.fw2]\nkind = \"router\"\n", "error enforcer-without-address inventory.toml:11"},
      {"[enforcer.fw2]\nkind = \"roter\"\n", "error bad-value inventory.toml:12"},
      {"[enforcer.br]\nkind = \"bridge\"\n", "error cannot-manage inventory.toml:11"},
      {"[enforcer.ib]\nkind = \"ib\"\n", "error missing-key inventory.toml:11"},
      {"[enforcer.sw]\nkind = \"switch\"\naccept_silence = { why = \"w\", owner = \"o\" }\n",
       "error missing-key inventory.toml:13"},
      {"[enforcer.sw]\nkind = \"switch\"\nseparates = [\"vlans\"]\n",
       "error bad-value inventory.toml:13"},
      {"[enforcer.sw]\nkind = \"switch\"\nforeign = [\"no.nft\"]\n",
       "error cannot-read inventory.toml:13"},
      {"[enforcer.sw]\nkind = \"switch\"\n[enforcer.sw.legs]\nx0 = { vrf = \"red\" }\n",
       "error leg-target inventory.toml:14"},
      {"[enforcer.sw]\nkind = \"switch\"\n[enforcer.sw.legs]\nx0 = { segment = \"red-fe\", v4 = "
       "\"10.1.0.2/22\" }\n",
       "error leg-address inventory.toml:14"},
      {"[enforcer.sw]\nkind = \"switch\"\n[enforcer.sw.legs]\nx0 = { segment = \"red-fe\", vrf = "
       "\"red\" }\nx1 = { segment = \"red-fe\" }\n",
       "error two-legs inventory.toml:15"},
      {"[enforcer.sw]\nkind = \"switch\"\n[enforcer.sw.legs]\nx0 = { vrf = \"red\", behind = "
       "[\"blue-fe\"] }\n",
       "error leg-vrf inventory.toml:14"},
      {"[enforcer.sw]\nkind = \"switch\"\n[enforcer.sw.legs]\nx0 = { behind = [\"green-*\"] }\n",
       "warning binds-nothing inventory.toml:14"},
      {"[enforcer.sw]\nkind = \"switch\"\nmembers = [\"w1\"]\n",
       "error name-collision inventory.toml:8"},
  };
  for (const Case& test : cases) {
    const auto site = with(std::string(kWorker) + test.facts);
    EXPECT_THAT(findings(site), ElementsAre(test.finding)) << test.facts << rendered(site);
  }
}

TEST(Inventory, AllMistakesOfASiteAreToldInOneRun) {
  const auto site = with(R"([host.h1]
nic.e0 = { segment = "red-fe", v4 = "10.9.0.5" }
[host.h2]
labels = ["worker"]
nic.e0 = { segment = "nowhere", v4 = "10.9.0.6" }
nic.e1 = { segment = "red-be", v4 = "10.2.0.1" }
)");
  EXPECT_THAT(findings(site), ElementsAre("warning binds-nothing policy.toml:29",
                                          "error address-outside-segment inventory.toml:9",
                                          "error unknown-name inventory.toml:12",
                                          "error duplicate-address inventory.toml:13"));
}

TEST(Inventory, OneAddressMayLiveInTwoVrfs) {
  const auto site = site_of(kTwoVrfsOfOnePrefix, R"([enforcer.fw]
kind = "router"
[enforcer.fw.legs]
a0 = { segment = "a", v4 = "10.0.0.1/24" }
b0 = { segment = "b", v4 = "10.0.0.1/24" }
[host.ha]
nic.e0 = { segment = "a", v4 = "10.0.0.5" }
[host.hb]
nic.e0 = { segment = "b", v4 = "10.0.0.5" }
)");
  EXPECT_TRUE(site.ok()) << rendered(site);
}

TEST(Inventory, LegsAreNotCalledAsTheKernelCallsOthers) {
  for (const std::string name : {"lo", "all", "default"}) {
    std::string facts(kEnforcer);
    facts.replace(facts.find("w0 ="), 2, name);
    EXPECT_THAT(findings(site_of(std::string(kPolicy), facts + std::string(kWorker))),
                testing::Contains("error interface-name inventory.toml:7"))
        << name;
  }
}

TEST(Inventory, ForeignRulesetsStayFilesOfTheSite) {
  const auto with_foreign = [](const std::string& text) {
    std::string facts(kEnforcer);
    facts.replace(facts.find("kind"), 0, "foreign = [\"f.nft\"]\n");
    return findings(site_of(std::string(kPolicy), facts + std::string(kWorker), {{"f.nft", text}}));
  };
  EXPECT_THAT(with_foreign("table ip nat { # include \"x\"\n"
                           "  chain include-not { } comment \"include\"\n}\n"),
              IsEmpty());
  for (const std::string before : {"", "table ip t { ", "flush ruleset; ", "7", "-"})
    EXPECT_THAT(with_foreign("# ours\n" + before + "include \"/etc/shadow\"\n"),
                ElementsAre("error foreign-include f.nft:2"))
        << before;
}

TEST(Inventory, WhatSshWouldTakeForAnOptionIsNoDestination) {
  for (const char* ssh : {"-oProxyCommand=touch /tmp/x", "a b"})
    EXPECT_THAT(findings(with(std::string(kWorker) + "[host.h]\nssh = \"" + ssh + R"("
nic.e0 = { segment = "red-fe", v4 = "10.1.0.5" }
)")),
                ElementsAre("error bad-ssh inventory.toml:11"))
        << ssh;
}

TEST(Inventory, ALegIsAHostOfItsNetwork) {
  std::string facts(kEnforcer);
  facts.replace(facts.find("10.1.0.1/24"), 11, "10.1.0.0/24");
  facts.replace(facts.find("203.0.113.2/29"), 14, "203.0.113.7/29");
  EXPECT_THAT(
      findings(site_of(std::string(kPolicy), facts + std::string(kWorker))),
      ElementsAre("error leg-address inventory.toml:4", "error leg-address inventory.toml:7"));
}

TEST(Inventory, GatewaysNeedALegWithAnAddressOfEachFamily) {
  std::string no_leg(kEnforcer);
  no_leg.erase(no_leg.find("r1 ="), no_leg.find("b0 =") - no_leg.find("r1 ="));
  EXPECT_THAT(findings(site_of(std::string(kPolicy), no_leg + std::string(kWorker))),
              ElementsAre("error gateway-without-leg policy.toml:19"));
  std::string no_v6(kEnforcer);
  no_v6.erase(no_v6.find(", v6 ="), std::string_view(", v6 = \"fd00:1::1/64\"").size());
  EXPECT_THAT(findings(site_of(std::string(kPolicy), no_v6 + std::string(kWorker))),
              ElementsAre("error gateway-without-address inventory.toml:4"));
}

TEST(Universe, RestIsWhatNobodyNames) {
  const auto site = with(kWorker);
  ASSERT_TRUE(site.ok()) << rendered(site);
  const AddressSet& world = site.matrix.universe.find("external:world")->addresses;
  for (const char* outside : {"8.8.8.8", "10.4.0.1", "203.0.113.1"})
    EXPECT_TRUE(world.contains(*Address::parse(outside))) << outside;
  for (const char* inside : {"10.1.0.200", "10.244.3.3", "203.0.113.2", "127.0.0.1", "224.0.0.1",
                             "0.0.0.0", "255.255.255.255", "2001:db8::1"})
    EXPECT_FALSE(world.contains(*Address::parse(inside))) << inside;
  const policy::Class* pods = site.matrix.universe.find("pods");
  EXPECT_EQ(pods->kind, policy::ClassKind::Behind);
  EXPECT_EQ(pods->addresses.begin()->first.str(), "10.244.0.0");
}

// Case C14: isolation of pods is not claimed where they share the host's RDMA devices.
TEST(Inventory, C14_SharedRdmaNamespacesAndManagementNodesAreNotIsolation) {
  const std::string host = R"([host.w1]
labels = ["worker"]
rdma_nodes = ["uverbs0", "umad0", "issm0"]
rdma_netns = "shared"
nic.e0 = { segment = "red-fe", v4 = "10.1.0.21", v6 = "fd00:1::21", rdma = "mlx5_0" }
)";
  const auto site = with(host);
  EXPECT_TRUE(site.ok());
  EXPECT_THAT(findings(site), ElementsAre("warning fabric-management inventory.toml:10",
                                          "warning fabric-management inventory.toml:10",
                                          "warning rdma-shared inventory.toml:11"));
  EXPECT_THAT(rendered(site), HasSubstr("pods of segment pods see the RDMA devices of host w1 "
                                        "(mlx5_0)"));
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = host;
    text.replace(text.find(from), from.size(), to);
    return findings(with(text));
  };
  EXPECT_THAT(changed("\"shared\"", "\"exclusive\""), testing::SizeIs(2));
  EXPECT_THAT(changed(", \"umad0\", \"issm0\"", ""),
              ElementsAre("warning rdma-shared inventory.toml:11"));
  EXPECT_THAT(changed("\"shared\"", "\"yes\""),
              testing::Contains("error bad-rdma-netns inventory.toml:11"));
}

TEST(Inventory, NftsWildcardIsNoInterface) {
  std::string facts(kEnforcer);
  facts.replace(facts.find("w0 ="), 4, "\"w*\" =");
  const auto site = site_of(std::string(kPolicy), facts + std::string(kWorker));
  EXPECT_THAT(findings(site), testing::Contains("error interface-name inventory.toml:7"));
  EXPECT_THAT(rendered(site), HasSubstr("name each interface"));
}

// A spare host reaches nobody, also where its segment is known by its prefix alone.
TEST(Universe, ASpareHostBehindOthersIsNotOfTheirClass) {
  const auto site = with(std::string(kWorker) + R"([host.idle]
state = "spare"
nic.e0 = { segment = "pods", v4 = "10.244.3.4" }
)");
  ASSERT_TRUE(site.ok()) << rendered(site);
  const policy::Universe& universe = site.matrix.universe;
  const Address idle = *Address::parse("10.244.3.4");
  EXPECT_FALSE(universe.find("pods")->addresses.contains(idle));
  EXPECT_TRUE(universe.find("pods")->addresses.contains(succ(idle)));
  const policy::Class* spare = universe.find("pods!spare");
  ASSERT_NE(spare, nullptr);
  EXPECT_EQ(spare->kind, policy::ClassKind::Spare);
  EXPECT_EQ(spare->addresses, (AddressSet{{idle, idle}}));
  const auto& bindings = site.coverage.views.at(0).bindings;
  EXPECT_TRUE(std::any_of(bindings.begin(), bindings.end(), [&](const auto& binding) {
    return binding.cls == id(site, "pods!spare") && binding.interface == "r0";
  })) << "known on the leg of its workers, or it would be anybody's";
}

TEST(Universe, PlacesBehindAWorkerAreNotThoseOfListedHosts) {
  const auto site = with(std::string(kWorker) + R"([host.idle]
state = "spare"
nic.e0 = { segment = "pods", v4 = "10.244.1.10" }
)");
  ASSERT_TRUE(site.ok()) << rendered(site);
  const auto placed =
      compiler::place_behind(site.policy.segments.at("pods"), site.policy, site.inventory);
  ASSERT_EQ(placed.size(), 1U);
  EXPECT_EQ(placed[0].address.str(), "10.244.1.11");
}

TEST(Universe, AStandInIsOfTheClassOfItsHost) {
  const auto site = with(std::string(kWorker) + R"([host.bmc1]
agentless = true
labels = ["bmc"]
nic.p = { segment = "red-be", v4 = "10.2.0.11" }
[host.lab1]
stand_in = "bmc1"
nic.p = { segment = "red-be", v4 = "10.2.0.12" }
)");
  ASSERT_TRUE(site.ok()) << rendered(site);
  EXPECT_EQ(site.matrix.universe.find("red-be"), nullptr);
  EXPECT_TRUE(
      site.matrix.universe.find("red-be.bmc")->addresses.contains(*Address::parse("10.2.0.12")));
}

TEST(Globs, StarsMatchRuns) {
  EXPECT_TRUE(compiler::matches_glob("acme-*", "acme-fe"));
  EXPECT_TRUE(compiler::matches_glob("*", ""));
  EXPECT_TRUE(compiler::matches_glob("a*b*c", "a-b-b-c"));
  EXPECT_FALSE(compiler::matches_glob("a*b*c", "a-c-b"));
  EXPECT_FALSE(compiler::matches_glob("acme", "acme-fe"));
  // Stays quick where a naive matcher would not.
  const std::string many(40, 'a');
  EXPECT_FALSE(compiler::matches_glob("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", many));
}

}  // namespace
}  // namespace bulkhead
