// Where a denied packet may be seen on its way to the firewall, and where it must not.
#include "probes/bystanders.h"

#include <gtest/gtest.h>

#include "tests/unit/judge/small_site.h"

namespace bulkhead::probes {
namespace {

using compiler::Probe;

Probe denied_between(const compiler::Site& site, std::string_view from, std::string_view to) {
  for (const Probe& probe : compiler::plan_probes(site, {}).probes) {
    if (probe.expect == compiler::Expect::Deny && probe.detour.host.empty() &&
        probe.from.cls == site.matrix.universe.id_of(from) &&
        probe.to.cls == site.matrix.universe.id_of(to))
      return probe;
  }
  ADD_FAILURE() << "nothing is denied from " << from << " to " << to;
  return {};
}

TEST(Bystanders, ASwitchMayFloodWithinTheSendersSegment) {
  const Bystanders bystanders(small_site());
  const Probe probe = denied_between(small_site(), "red-fe", "blue-fe");
  EXPECT_FALSE(bystanders.leaks(probe, "r1", "e0"));
  EXPECT_FALSE(bystanders.leaks(probe, "r2", "e0"));
}

TEST(Bystanders, AnyOtherSegmentMustNotSeeIt) {
  const Bystanders bystanders(small_site());
  const Probe probe = denied_between(small_site(), "red-fe", "blue-fe");
  EXPECT_TRUE(bystanders.leaks(probe, "b1", "e0"));
  EXPECT_TRUE(bystanders.leaks(probe, "b2", "e0"));
  EXPECT_TRUE(bystanders.leaks(probe, "external:world", "up0"));
  EXPECT_EQ(bystanders.place_of("b1", "e0"), "blue-fe");
}

// A port of a bond, or of a bridge that a NIC stands on, sees what the NIC sees.
TEST(Bystanders, AnInterfaceThatNobodyDeclaredSeesWhatItsHostMaySee) {
  const Bystanders bystanders(small_site());
  const Probe probe = denied_between(small_site(), "red-fe", "blue-fe");
  EXPECT_FALSE(bystanders.leaks(probe, "r2", "bond0"));
  EXPECT_TRUE(bystanders.leaks(probe, "b1", "docker0"));
  EXPECT_EQ(bystanders.place_of("b1", "docker0"), "no segment that the inventory knows");
  EXPECT_FALSE(bystanders.leaks(probe, "fw", "blue"));
  EXPECT_EQ(bystanders.place_of("fw", "blue"), "");
}

// What an outside world or an enforcer sends.
TEST(Bystanders, TheSenderMayBeNoHost) {
  const Bystanders bystanders(small_site());
  const Probe outside = denied_between(small_site(), "external:world", "red-fe");
  EXPECT_FALSE(bystanders.leaks(outside, "external:world", "up0"));
  EXPECT_TRUE(bystanders.leaks(outside, "r2", "e0"));
  const Probe own = denied_between(small_site(), "enforcer:fw", "red-fe");
  EXPECT_TRUE(bystanders.leaks(own, "r2", "e0"));
}

// A packet of a tenant behind a switch crosses the switch's uplink, where hosts may stand.
TEST(Bystanders, SegmentsBeforeTheFirstFirewallAreOnTheWay) {
  const compiler::Site site = site_of(
      R"(
name = "transit"
[tenant.red]
owner = "red"
[tenant.ops]
owner = "ops"
[segment.core]
tenant = "ops"
vlan = 1
v4 = "10.0.0.0/24"
gateway = "fw"
inside = "open"
[segment.red-fe]
tenant = "red"
vlan = 10
v4 = "10.1.0.0/24"
gateway = "leaf"
inside = "open"
[segment.far]
tenant = "ops"
vlan = 20
v4 = "10.2.0.0/24"
gateway = "fw"
inside = "open"
)",
      R"(
[enforcer.fw]
kind = "router"
manage = "bulkhead"
[enforcer.fw.legs]
core = { segment = "core", v4 = "10.0.0.1/24", behind = ["red-fe"] }
far = { segment = "far", v4 = "10.2.0.1/24" }
[enforcer.leaf]
kind = "switch"
manage = "declared"
separates = ["vlan"]
[host.c1]
nic.e0 = { segment = "core", v4 = "10.0.0.11" }
[host."r[1-2]"]
nic.e0 = { segment = "red-fe", v4 = "10.1.0.[11-12]" }
[host."f[1-2]"]
nic.e0 = { segment = "far", v4 = "10.2.0.[11-12]" }
)");
  ASSERT_TRUE(site.ok()) << render(site.diagnostics, site.sources, false);
  const Bystanders bystanders(site);
  const Probe probe = denied_between(site, "red-fe", "far");
  EXPECT_FALSE(bystanders.leaks(probe, "c1", "e0"));
  EXPECT_TRUE(bystanders.leaks(probe, "f1", "e0"));
  const Probe back = denied_between(site, "far", "red-fe");
  EXPECT_TRUE(bystanders.leaks(back, "c1", "e0"));
}

}  // namespace
}  // namespace bulkhead::probes
