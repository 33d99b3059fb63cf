// The letters of the language: a site as its users would write it, read from its folder.
#include <gmock/gmock.h>

#include "policy/matrix.h"
#include "tests/unit/policy/checked.h"

namespace bulkhead::policy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const char* const kFolder = BULKHEAD_SOURCE_DIR "/tests/data/example-site";

TEST(ExampleSite, IsReadAsWritten) {
  SourceMap sources;
  Diagnostics diagnostics;
  Policy policy = parse_policy(folder_reader(kFolder), "", sources, diagnostics);
  validate_names(policy, {{"fw", "leaf", "mgmt-sw", "ib"}}, diagnostics);
  EXPECT_THAT(render(diagnostics, sources, false), IsEmpty());

  EXPECT_EQ(policy.name, "two-racks");
  EXPECT_EQ(policy.tenants.size(), 4U);
  EXPECT_EQ(policy.tenants.at("acme").owner, "acme-platform");
  EXPECT_EQ(policy.vrfs.at("acme").vni, 5001U);
  EXPECT_EQ(policy.segments.at("acme-fe").vlan, 1101);
  EXPECT_EQ(policy.segments.at("bmc").isolated_by->text, "mgmt-sw");
  EXPECT_EQ(policy.segments.at("k8s-pods").behind->text, "k8s-worker");
  EXPECT_TRUE(policy.externals.at("world").rest_v6);
  EXPECT_EQ(policy.partitions.at("stor-ib").pkey, 0x0120);
  EXPECT_EQ(policy.services.at("srun").terms.at(0).ports, (PortSet{{60001, 63000}}));
  EXPECT_EQ(to_string(policy.services.at("vrrp").terms.at(0)), "ip 112 to 224.0.0.18");

  ASSERT_EQ(policy.flows.size(), 4U);
  const Flow& f7 = policy.flows[0];
  EXPECT_EQ(f7.id, "F7");
  EXPECT_EQ(f7.from.at(0).str(), "ops-mgmt.slurmctld");
  EXPECT_EQ(f7.from.at(0).what, Selector::What::Segment);
  EXPECT_EQ(f7.expires, parse_date("2027-06-30"));
  EXPECT_EQ(f7.ticket, "NET-41");
  const Flow& a2 = policy.flows[3];
  EXPECT_EQ(a2.from.at(0).what, Selector::What::Partition);
  EXPECT_EQ(a2.authority, "acme");
  EXPECT_TRUE(a2.both_ways);
  ASSERT_EQ(policy.nevers.size(), 2U);
  EXPECT_TRUE(policy.nevers[0].except.at(0).same_tenant);
}

TEST(ExampleSite, HoldsAgainstItsClasses) {
  std::map<std::string, std::string> files;
  for (const char* name : {"policy.toml", "tenants/acme.toml", "tenants/bolt.toml"})
    files[name] = folder_reader(kFolder)(name).value();
  const Checked checked =
      check(files, {"acme-fe.compute", "acme-roce.compute", "acme-ipoib.compute", "acme-ib.compute",
                    "stor-lustre.server", "ops-mgmt.server", "ops-mgmt.slurmctld",
                    "ops-mgmt.bastion", "bmc", "k8s-pods", "stor-ib.server"});
  // `leaf` is an enforcer of the inventory, which is not read here.
  EXPECT_THAT(checked.codes(), ElementsAre("one-family", "one-family", "unknown-name"))
      << checked.rendered();
}

}  // namespace
}  // namespace bulkhead::policy
