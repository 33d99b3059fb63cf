#include "compiler/coverage.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "compiler/ir.h"
#include "compiler/probe_book.h"
#include "compiler/targets/nftables.h"
#include "tests/unit/compiler/site_text.h"

namespace bulkhead {
namespace {

using compiler::Cause;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct Segment {
  Segment(std::string its_name, std::string its_gateway = "fw", std::string its_vrf = "",
          std::string said = "inside = \"open\"")
      : name(std::move(its_name)),
        gateway(std::move(its_gateway)),
        vrf(std::move(its_vrf)),
        more(std::move(said)) {}
  std::string name, gateway, vrf, more;
};

// Segments s1, s2, ... each of its own tenant and prefix 10.N.0.0/24, in the order given.
std::string policy_of(const std::vector<Segment>& segments, const std::string& more = "") {
  std::string out = "name = \"n\"\n[service.ssh]\ntcp = [22]\n[service.web]\ntcp = [80]\n";
  std::vector<std::string> vrfs;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Segment& s = segments[i];
    out += fmt::format("[tenant.t{}]\n", i + 1);
    if (!s.vrf.empty() && std::find(vrfs.begin(), vrfs.end(), s.vrf) == vrfs.end())
      vrfs.push_back(s.vrf);
    out += fmt::format("[segment.{}]\ntenant = \"t{}\"\nvlan = {}\nv4 = \"10.{}.0.0/24\"\n{}\n",
                       s.name, i + 1, i + 1, i + 1, s.more);
    if (!s.vrf.empty())
      out += fmt::format("vrf = \"{}\"\n", s.vrf);
    if (!s.gateway.empty())
      out += fmt::format("gateway = \"{}\"\n", s.gateway);
  }
  for (std::size_t i = 0; i < vrfs.size(); ++i)
    if (more.find("[vrf." + vrfs[i] + "]") == std::string::npos)
      out += fmt::format("[vrf.{}]\ntable = {}\n", vrfs[i], 100 + i);
  return out + more;
}

// One host hN in each segment but "mid", where routers meet; then the enforcers of the test.
std::string facts_of(const std::vector<Segment>& segments, const std::string& more) {
  std::string out;
  for (std::size_t i = 0; i < segments.size(); ++i)
    if (segments[i].name != "mid")
      out += fmt::format("[host.h{0}]\nnic.e0 = {{ segment = \"{1}\", v4 = \"10.{0}.0.11\" }}\n",
                         i + 1, segments[i].name);
  return out + more;
}

compiler::Site site_with(const std::vector<Segment>& segments, const std::string& facts,
                         const std::string& policy = "") {
  return site_of(policy_of(segments, policy), facts_of(segments, facts));
}

std::string flow(std::string_view id, std::string_view from, std::string_view to,
                 std::string_view action = "allow", std::string_view service = "ssh") {
  return fmt::format(
      "[[flow]]\nid = \"{}\"\nfrom = \"{}\"\nto = \"{}\"\nservices = [\"{}\"]\naction = \"{}\"\n"
      "why = \"w\"\n",
      id, from, to, service, action);
}

std::vector<std::string> bindings(const compiler::Site& site, std::string_view enforcer) {
  std::vector<std::string> out;
  for (const auto& view : site.coverage.views)
    if (view.enforcer == enforcer)
      for (const auto& binding : view.bindings)
        out.push_back(site.matrix.universe.classes[binding.cls].name + "@" + binding.interface);
  return out;
}

constexpr std::string_view kLeaf = R"([enforcer.leaf]
kind = "switch"
separates = ["vlan", "vrf"]
)";

TEST(Coverage, AnEnforcerOfOursBetweenTwoSegmentsIsTheCause) {
  const auto site = site_with({{"s1"}, {"s2"}}, R"([enforcer.fw]
kind = "router"
[enforcer.fw.legs]
e1 = { segment = "s1", v4 = "10.1.0.1/24" }
e2 = { segment = "s2", v4 = "10.2.0.1/24" }
)");
  ASSERT_TRUE(site.ok()) << rendered(site);
  EXPECT_EQ(covered(site, "s1", "s2").cause, Cause::Rule);
  EXPECT_EQ(covered(site, "s1", "s2").control, "fw");
  EXPECT_THAT(covered(site, "s1", "s2").path, ElementsAre("fw"));
  EXPECT_EQ(covered(site, "s1", "enforcer:fw").cause, Cause::Rule);
  EXPECT_EQ(covered(site, "enforcer:fw", "s2").cause, Cause::Rule);
  EXPECT_EQ(covered(site, "s1", "s1").cause, Cause::None);
  EXPECT_THAT(bindings(site, "fw"), ElementsAre("s1@e1", "s2@e2"));
}

// A pair whose policy silences VRRP would have two masters.
TEST(Coverage, MembersOfAnEnforcerSpeakToEachOtherWhereAFlowSaysSo) {
  const std::string vrrp = "[service.vrrp]\nip = 112\nto = [\"224.0.0.18\"]\n" +
                           flow("VR", "enforcer:fw", "enforcer:fw", "allow", "vrrp");
  const auto pair = [&](const std::string& members) {
    return site_with({{"s1"}, {"s2"}},
                     "[enforcer.fw]\nkind = \"router\"\nmembers = " + members + R"(
[enforcer.fw.legs]
e1 = { segment = "s1", v4 = "10.1.0.1/24" }
e2 = { segment = "s2", v4 = "10.2.0.1/24" }
)",
                     vrrp);
  };
  const auto site = pair("[\"fw-a\", \"fw-b\"]");
  EXPECT_THAT(findings(site), IsEmpty()) << rendered(site);
  const auto fw = id(site, "enforcer:fw");
  const policy::Cell* cell = site.matrix.find(fw, fw);
  ASSERT_NE(cell, nullptr);
  EXPECT_THAT(cell->pieces, testing::SizeIs(1));
  EXPECT_EQ(covered(site, "enforcer:fw", "enforcer:fw").cause, Cause::Rule);
  const std::string text =
      compiler::nftables(compiler::ir::make_enforcer(site, site.coverage.views.at(0))).text;
  EXPECT_THAT(text, HasSubstr("from enforcer:fw peer"));
  EXPECT_THAT(text, HasSubstr("meta l4proto 112 counter accept comment \"VR\""));

  const auto& unprobed = compiler::make_probe_book(site, {}).unprobed;
  EXPECT_TRUE(std::any_of(unprobed.begin(), unprobed.end(), [&](const auto& left_out) {
    return left_out.from == fw && left_out.to == fw && !left_out.vacuous;
  })) << "what nobody can probe is not said to be as intended";

  const auto alone = pair("[\"fw-a\"]");
  EXPECT_THAT(findings(alone), ElementsAre(testing::StartsWith("warning to-itself")));
  EXPECT_EQ(alone.matrix.find(fw, fw), nullptr);
}

// handed A07: what stays on one L2 passes no router; the promise is refused, not believed.
TEST(Coverage, NothingIsEnforcedInsideASegment) {
  const std::string facts = R"([enforcer.fw]
kind = "router"
[enforcer.fw.legs]
e1 = { segment = "s1", v4 = "10.1.0.1/24" }
[host.k1]
labels = ["k"]
nic.e0 = { segment = "s1", v4 = "10.1.0.12" }
)";
  const auto denied = site_with({{"s1"}}, facts, flow("F1", "s1.k", "s1", "deny"));
  EXPECT_THAT(findings(denied), ElementsAre("error not-enforced-here policy.toml:13"));
  EXPECT_THAT(rendered(denied), HasSubstr("segment s1 is here"));
  EXPECT_THAT(rendered(denied), HasSubstr("inside = \"open\""));
}

TEST(Coverage, IsolationIsExternalAndNeedsWhoKeepsPortsApart) {
  const std::vector<Segment> isolated = {
      {"s1", "fw", "", "inside = \"isolated\"\nisolated_by = \"sw\""}};
  const std::string fw = R"([enforcer.fw]
kind = "router"
[enforcer.fw.legs]
e1 = { segment = "s1", v4 = "10.1.0.1/24" }
[host.k1]
nic.e0 = { segment = "s1", v4 = "10.1.0.12" }
[enforcer.sw]
kind = "switch"
)";
  const auto good =
      site_with(isolated, fw + "separates = [\"port\"]\n", flow("F1", "s1", "s1", "deny"));
  ASSERT_TRUE(good.ok()) << rendered(good);
  EXPECT_EQ(covered(good, "s1", "s1").cause, Cause::External);
  EXPECT_EQ(covered(good, "s1", "s1").control, "sw");

  const auto bad = site_with(isolated, fw + "separates = [\"vlan\"]\n");
  EXPECT_THAT(findings(bad), ElementsAre("error isolation-not-enforced policy.toml:12"));

  const auto ended = site_with(
      isolated, fw + "separates = [\"port\"]\naccept_silence = { why = \"w\", owner = \"o\", "
                     "expires = 2026-11-30 }\n");
  EXPECT_THAT(findings(ended), ElementsAre("warning accept-silence-ended inventory.toml:12"));
}

TEST(Coverage, ADeclaredSwitchSeparatesByVrfAndLeaksAreOneWay) {
  const std::string leaks =
      "[vrf.a]\ntable = 1\nleaks = [{ vrf = \"b\", v4 = [\"10.2.0.0/24\"] }]\n";
  const std::vector<Segment> segments = {
      {"s1", "leaf", "a"}, {"s2", "leaf", "b"}, {"s3", "leaf", "a"}, {"s4", "leaf", "c"}};
  const auto site = site_with(segments, std::string(kLeaf), leaks);
  ASSERT_TRUE(site.ok()) << rendered(site);
  EXPECT_EQ(covered(site, "s1", "s3").cause, Cause::None);   // one VRF
  EXPECT_EQ(covered(site, "s1", "s2").cause, Cause::None);   // leaked
  EXPECT_EQ(covered(site, "s2", "s1").cause, Cause::Route);  // not leaked back
  EXPECT_EQ(covered(site, "s1", "s4").cause, Cause::Route);
  EXPECT_EQ(covered(site, "s1", "s4").control, "leaf");

  const auto denied =
      site_with(segments, std::string(kLeaf),
                leaks + flow("F1", "s1", "s2", "deny") + flow("F2", "s1", "s4", "deny"));
  EXPECT_THAT(findings(denied), Contains(HasSubstr("error not-enforced-here")));
  EXPECT_THAT(rendered(denied), HasSubstr("F1 denies"));
  EXPECT_THAT(rendered(denied), Not(HasSubstr("F2 denies")));

  const auto allowed = site_with(segments, std::string(kLeaf),
                                 leaks + flow("F3", "s1", "s2") + flow("F4", "s1", "s4"));
  EXPECT_THAT(rendered(allowed), HasSubstr("F3 allows s1 to s2, but its replies have no way back"));
  EXPECT_THAT(rendered(allowed), HasSubstr("F4 allows s1 to s4, but there is no way"));
}

TEST(Coverage, ASwitchThatDoesNotSeparateVrfsIsNoCause) {
  const auto site = site_with({{"s1", "leaf", "a"}, {"s2", "leaf", "b"}},
                              "[enforcer.leaf]\nkind = \"switch\"\nseparates = [\"vlan\"]\n");
  EXPECT_EQ(covered(site, "s1", "s2").cause, Cause::None);
}

TEST(Coverage, NeverWithoutACauseIsAnError) {
  const auto site = site_with({{"s1", "leaf"}, {"s2", "leaf"}}, std::string(kLeaf),
                              "[[never]]\nid = \"N1\"\nfrom = \"tenant:t1\"\nto = \"tenant:t2\"\n");
  EXPECT_THAT(findings(site), ElementsAre("error not-enforced-here policy.toml:20"));
  EXPECT_THAT(rendered(site), HasSubstr("N1 says never from s1 to s2"));
}

TEST(Coverage, ASegmentWithoutGatewayHasNoRoute) {
  const auto site = site_with({{"s1", ""}, {"s2", "leaf"}}, std::string(kLeaf));
  EXPECT_EQ(covered(site, "s1", "s2").cause, Cause::Route);
  EXPECT_EQ(covered(site, "s2", "s1").cause, Cause::Route);
  EXPECT_THAT(covered(site, "s1", "s2").reason, HasSubstr("no gateway"));
}

// Segments behind a switch reach each other's VRFs through our router: a transit leg binds exactly
// the classes routed over it, and a direct leg beats a glob.
TEST(Coverage, TransitLegsBindTheClassesRoutedOverThem) {
  const auto site = site_with({{"a-fe", "fw", "a"},
                               {"a-r1", "leaf", "a"},
                               {"a-r2", "leaf", "a"},
                               {"a-x", "", "a"},
                               {"b-r1", "leaf", "b"}},
                              std::string(kLeaf) + R"([enforcer.fw]
kind = "router"
[enforcer.fw.legs]
e1 = { segment = "a-fe", v4 = "10.1.0.1/24" }
ta = { vrf = "a", behind = ["a-*"] }
tb = { vrf = "b", behind = ["*"] }
)");
  ASSERT_TRUE(site.ok()) << rendered(site);
  EXPECT_THAT(bindings(site, "fw"), ElementsAre("a-fe@e1", "a-r1@ta", "a-r2@ta", "b-r1@tb"));
  EXPECT_EQ(covered(site, "a-r1", "a-r2").cause, Cause::None);  // the switch routes one VRF itself
  EXPECT_EQ(covered(site, "a-r1", "b-r1").cause, Cause::Rule);
  EXPECT_EQ(covered(site, "a-fe", "a-r1").cause, Cause::Rule);
  EXPECT_EQ(covered(site, "a-r1", "a-fe").cause, Cause::Rule);
  EXPECT_EQ(covered(site, "a-fe", "a-x").cause, Cause::Route);
}

constexpr std::string_view kTwoRouters = R"([enforcer.fw1]
kind = "router"
[enforcer.fw1.legs]
e1 = { segment = "s1", v4 = "10.1.0.1/24" }
t0 = { segment = "mid", v4 = "10.3.0.1/24", behind = ["s2"] }
[enforcer.fw2]
kind = "router"
[enforcer.fw2.legs]
e2 = { segment = "s2", v4 = "10.2.0.1/24" }
t0 = { segment = "mid", v4 = "10.3.0.2/24", behind = ["s1"] }
)";

TEST(Coverage, EachOfSeveralEnforcersOnAPathEnforces) {
  const auto site =
      site_with({{"s1", "fw1"}, {"s2", "fw2"}, {"mid", "fw1"}}, std::string(kTwoRouters));
  ASSERT_TRUE(site.ok()) << rendered(site);
  EXPECT_THAT(covered(site, "s1", "s2").path, ElementsAre("fw1", "fw2"));
  EXPECT_THAT(covered(site, "s2", "s1").path, ElementsAre("fw2", "fw1"));
  EXPECT_THAT(covered(site, "s1", "enforcer:fw2").path, ElementsAre("fw1", "fw2"));
  EXPECT_THAT(bindings(site, "fw1"), ElementsAre("enforcer:fw2@t0", "s1@e1", "s2@t0"));
}

TEST(Coverage, AnAsymmetricPathIsAnError) {
  std::string facts(kTwoRouters);
  facts.replace(facts.find("t0 = { segment = \"mid\", v4 = \"10.3.0.1/24\""), 0,
                "x2 = { segment = \"s2\", v4 = \"10.2.0.2/24\" }\n");
  const auto site = site_with({{"s1", "fw1"}, {"s2", "fw2"}, {"mid", "fw1"}}, facts);
  EXPECT_THAT(findings(site), Contains(HasSubstr("error asymmetric-path policy.toml")));
  EXPECT_THAT(rendered(site),
              HasSubstr("packets from s1 to s2 pass fw1, those back pass fw2, fw1"));
}

TEST(Coverage, TwoEnforcersThatWouldBothDoAreAnError) {
  std::string legs = R"([enforcer.fwN]
kind = "router"
[enforcer.fwN.legs]
mN = { segment = "mid", v4 = "10.3.0.N/24" }
tN = { vrf = "a", behind = ["s1"] }
uN = { vrf = "b", behind = ["s2"] }
)";
  std::string facts(kLeaf);
  for (const char digit : {'1', '2'})
    for (const char c : legs)
      facts += c == 'N' ? digit : c;
  const auto site = site_with({{"s1", "leaf", "a"}, {"s2", "leaf", "b"}, {"mid", "fw1"}}, facts);
  EXPECT_THAT(findings(site), Contains(HasSubstr("error two-paths")));
}

TEST(Coverage, ClassesOnOneLegAreNotToldApartBySource) {
  const std::string facts = R"([enforcer.fw]
kind = "router"
[enforcer.fw.legs]
e1 = { segment = "s1", v4 = "10.1.0.1/24" }
e2 = { segment = "s2", v4 = "10.2.0.1/24" }
[host.k1]
labels = ["k"]
nic.e0 = { segment = "s1", v4 = "10.1.0.12" }
)";
  const auto site = site_with({{"s1"}, {"s2"}}, facts, flow("F1", "s1.k", "s2"));
  ASSERT_TRUE(site.ok()) << rendered(site);
  EXPECT_EQ(covered(site, "s1", "s2").not_separated_from, "s1.k");
  EXPECT_EQ(covered(site, "s1.k", "s2").not_separated_from, "");
  EXPECT_EQ(covered(site, "s1", "enforcer:fw").not_separated_from, "");
  EXPECT_EQ(covered(site, "s2", "s1").not_separated_from, "");

  const auto differently =
      site_with({{"s1"}, {"s2"}}, facts,
                flow("F1", "s1.k", "s2") + flow("F2", "s1", "s2", "deny", "ssh") +
                    flow("F3", "s1", "s2", "allow", "web"));
  // F2 takes ssh from both again: now they are alike.
  EXPECT_EQ(covered(differently, "s1", "s2").not_separated_from, "");
}

TEST(Coverage, PodsStandWhereTheirWorkersDo) {
  const std::string pods =
      "[segment.pods]\ntenant = \"t2\"\nbehind = \"s1.worker\"\nv4 = \"10.244.0.0/16\"\ninside = "
      "\"open\"\n";
  const auto site = site_with({{"s1"}, {"s2"}}, R"([enforcer.fw]
kind = "router"
[enforcer.fw.legs]
e1 = { segment = "s1", v4 = "10.1.0.1/24" }
e2 = { segment = "s2", v4 = "10.2.0.1/24" }
[host.w1]
labels = ["worker"]
nic.e0 = { segment = "s1", v4 = "10.1.0.12" }
)",
                              pods);
  ASSERT_TRUE(site.ok()) << rendered(site);
  EXPECT_THAT(bindings(site, "fw"), ElementsAre("pods@e1", "s1@e1", "s1.worker@e1", "s2@e2"));
  EXPECT_EQ(covered(site, "pods", "s2").cause, Cause::Rule);
  EXPECT_EQ(covered(site, "pods", "s1").cause, Cause::None);  // the same L2
}

TEST(Coverage, OutsideWorldsEnterByTheirLeg) {
  const auto site = site_with({{"s1"}}, R"([enforcer.fw]
kind = "router"
[enforcer.fw.legs]
e1 = { segment = "s1", v4 = "10.1.0.1/24" }
w0 = { external = "world", v4 = "203.0.113.2/29" }
)",
                              "[external.world]\nv4 = \"rest\"\n[external.lost]\nv4 = "
                              "\"192.0.2.0/24\"\n");
  ASSERT_TRUE(site.ok()) << rendered(site);
  EXPECT_EQ(covered(site, "external:world", "s1").cause, Cause::Rule);
  EXPECT_EQ(covered(site, "s1", "external:world").cause, Cause::Rule);
  EXPECT_EQ(covered(site, "external:lost", "s1").cause, Cause::Route);
  EXPECT_THAT(bindings(site, "fw"), ElementsAre("external:world@w0", "s1@e1"));
}

TEST(Coverage, AFlowMayNotLeaveAVrfThatOverlapsAnother) {
  const std::string policy = std::string(kTwoVrfsOfOnePrefix) + R"([tenant.c]
[segment.c]
tenant = "c"
vlan = 3
v4 = "10.3.0.0/24"
gateway = "fw"
inside = "open"
[service.ssh]
tcp = [22]
)";
  const std::string facts = R"([enforcer.fw]
kind = "router"
[enforcer.fw.legs]
a0 = { segment = "a", v4 = "10.0.0.1/24" }
b0 = { segment = "b", v4 = "10.0.0.1/24" }
c0 = { segment = "c", v4 = "10.3.0.1/24" }
[host.ha]
nic.e0 = { segment = "a", v4 = "10.0.0.5" }
[host.hb]
nic.e0 = { segment = "b", v4 = "10.0.0.5" }
[host.hc]
nic.e0 = { segment = "c", v4 = "10.3.0.5" }
)";
  EXPECT_TRUE(site_of(policy, facts).ok());
  EXPECT_THAT(findings(site_of(policy + flow("F1", "a", "c"), facts)),
              ElementsAre("error crosses-overlapping-vrf policy.toml:31"));
}

TEST(Coverage, InfiniBandIsCoveredByKeys) {
  const auto site = compiler::load_site(
      std::filesystem::path(BULKHEAD_SOURCE_DIR "/tests/data/example-site"), kToday);
  ASSERT_TRUE(site.ok()) << rendered(site);
  EXPECT_EQ(covered(site, "acme-ib.compute", "acme-ib.compute").cause, Cause::Partition);
  EXPECT_EQ(covered(site, "acme-ib.compute", "bmc").cause, Cause::Partition);
}

TEST(ExampleSite, IsCoveredAsItsAuthorsMeant) {
  const auto site = compiler::load_site(
      std::filesystem::path(BULKHEAD_SOURCE_DIR "/tests/data/example-site"), kToday);
  ASSERT_TRUE(site.ok()) << rendered(site);
  struct Case {
    const char* from;
    const char* to;
    Cause cause;
    const char* control;
  };
  const Case cases[] = {
      {"ops-mgmt.slurmctld", "acme-fe.compute", Cause::Rule, "fw"},
      {"acme-fe.compute", "bmc", Cause::Rule, "fw"},
      {"acme-fe.compute", "acme-roce.compute", Cause::Rule, "fw"},
      {"acme-roce.compute", "stor-lustre.server", Cause::Rule, "fw"},
      {"stor-lustre.server", "acme-roce.compute", Cause::Rule, "fw"},
      {"acme-roce.compute", "acme-roce.compute", Cause::None, ""},
      {"acme-ipoib.compute", "bmc", Cause::Route, ""},
      {"bmc", "bmc", Cause::External, "mgmt-sw"},
      {"external:world", "bmc", Cause::Rule, "fw"},
      {"k8s-pods", "bmc", Cause::Route, ""},
      {"enforcer:fw", "external:world", Cause::Rule, "fw"},
  };
  for (const Case& test : cases) {
    const auto& cell = covered(site, test.from, test.to);
    EXPECT_EQ(cell.cause, test.cause) << test.from << " > " << test.to << ": " << cell.reason;
    EXPECT_EQ(cell.control, test.control) << test.from << " > " << test.to;
  }
  EXPECT_THAT(bindings(site, "fw"),
              ElementsAre("acme-fe.compute@bond0.1101", "acme-roce.compute@bond0.4000",
                          "bmc@bond0.9", "external:world@bond0.99", "ops-mgmt.bastion@bond0.10",
                          "ops-mgmt.server@bond0.10", "ops-mgmt.slurmctld@bond0.10",
                          "stor-lustre.server@bond0.3001"));
  EXPECT_EQ(covered(site, "ops-mgmt.slurmctld", "bmc").not_separated_from, "ops-mgmt.bastion");
  EXPECT_TRUE(site.policy_digest.starts_with("sha256:"));
}

}  // namespace
}  // namespace bulkhead
