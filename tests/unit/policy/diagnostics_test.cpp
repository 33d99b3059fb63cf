// One line for each thing that a policy can get wrong.
#include <gmock/gmock.h>

#include "tests/unit/policy/checked.h"

namespace bulkhead::policy {
namespace {

using testing::ElementsAreArray;

struct Case {
  const char* name;
  std::string added;  // to the base policy
  std::vector<std::string> codes;
};

std::string flow(const std::string& id, const std::string& from, const std::string& to,
                 const std::string& services, const std::string& more = "") {
  return "[[flow]]\nid = \"" + id + "\"\nfrom = \"" + from + "\"\nto = \"" + to +
         "\"\nservices = [" + services + "]\n" + more + "\n";
}
std::string segment(const std::string& name, const std::string& keys) {
  return "[segment." + name + "]\n" + keys + "\n";
}

const std::string kOk = "tenant = \"red\"\nv4 = \"10.9.0.0/24\"\ninside = \"open\"\n";

const std::vector<Case> kPlaces = {
    {"the base policy itself", "", {}},
    {"a segment", segment("x", kOk), {}},
    {"prefixes as a list",
     segment("x", "tenant = \"red\"\nv4 = [\"10.9.0.0/24\", \"10.9.1.0/24\"]\ninside = \"open\""),
     {}},
    {"unknown key", segment("x", kOk + "gatway = \"fw\""), {"unknown-key"}},
    {"unknown table", "[segmnt.x]\n", {"unknown-key"}},
    {"wrong type", segment("x", kOk + "vlan = \"9\""), {"wrong-type"}},
    {"table instead of value", "[tenant]\nx = 3\n", {"wrong-type"}},
    {"vlan 0", segment("x", kOk + "vlan = 0"), {"out-of-range"}},
    {"vlan 4095", segment("x", kOk + "vlan = 4095"), {"out-of-range"}},
    {"no tenant", segment("x", "v4 = \"10.9.0.0/24\"\ninside = \"open\""), {"missing-key"}},
    {"unknown tenant",
     segment("x", "tenant = \"rad\"\nv4 = \"10.9.0.0/24\"\ninside = \"open\""),
     {"unknown-name"}},
    {"unknown vrf", segment("x", kOk + "vrf = \"rde\""), {"unknown-name"}},
    {"unknown gateway", segment("x", kOk + "gateway = \"fv\""), {"unknown-name"}},
    {"unknown partition", segment("x", kOk + "ib_partition = \"no\""), {"unknown-name"}},
    {"another tenant's partition",
     segment("x", kOk + "ib_partition = \"stor-ib\""),
     {"tenant-mismatch"}},
    {"vlan and partition",
     segment("x", kOk + "ib_partition = \"red-ib\"\nvlan = 7"),
     {"vlan-and-partition"}},
    {"vlan and behind", segment("x", kOk + "behind = \"web\"\nvlan = 7"), {"vlan-and-behind"}},
    {"shared vlan",
     segment("x", kOk + "vlan = 7") +
         segment("y", "tenant = \"red\"\nv4 = \"10.8.0.0/24\"\ninside = \"open\"\nvlan = 7"),
     {"shared-vlan"}},
    {"inside not said", segment("x", "tenant = \"red\"\nv4 = \"10.9.0.0/24\""), {"inside-missing"}},
    {"inside misspelt",
     segment("x", "tenant = \"red\"\nv4 = \"10.9.0.0/24\"\ninside = \"opne\""),
     {"bad-value"}},
    {"isolated by nobody",
     segment("x", "tenant = \"red\"\nv4 = \"10.9.0.0/24\"\ninside = \"isolated\""),
     {"isolated-by-missing"}},
    {"isolated",
     segment("x",
             "tenant = \"red\"\nv4 = \"10.9.0.0/24\"\ninside = \"isolated\"\nisolated_by = "
             "\"mgmt-sw\""),
     {}},
    {"open, yet isolated by",
     segment("x", kOk + "isolated_by = \"mgmt-sw\""),
     {"isolated-by-unused"}},
    {"no prefix", segment("x", "tenant = \"red\"\ninside = \"open\""), {"missing-key"}},
    {"empty prefix list",
     segment("x", "tenant = \"red\"\nv4 = []\ninside = \"open\""),
     {"missing-key"}},
    {"prefix syntax",
     segment("x", "tenant = \"red\"\nv4 = \"10.9.0/24\"\ninside = \"open\""),
     {"bad-prefix"}},
    {"v6 in v4",
     segment("x", "tenant = \"red\"\nv4 = \"fd00:9::/64\"\ninside = \"open\""),
     {"wrong-family"}},
    {"mapped address",
     segment("x", "tenant = \"red\"\nv6 = \"::ffff:10.9.0.0/120\"\ninside = \"open\""),
     {"bad-prefix"}},
    {"multicast segment",
     segment("x", "tenant = \"red\"\nv4 = \"224.0.0.0/24\"\ninside = \"open\""),
     {"bad-prefix"}},
    {"loopback segment",
     segment("x", "tenant = \"red\"\nv4 = \"127.0.0.0/8\"\ninside = \"open\""),
     {"bad-prefix"}},
    {"link-local segment",
     segment("x", "tenant = \"red\"\nv6 = \"fe80::/64\"\ninside = \"open\""),
     {"bad-prefix"}},
    {"rest is for externals",
     segment("x", "tenant = \"red\"\nv4 = \"rest\"\ninside = \"open\""),
     {"bad-prefix"}},
    {"overlap in one vrf",
     segment("x", "tenant = \"red\"\nvrf = \"red\"\nv4 = \"10.1.0.128/25\"\ninside = \"open\""),
     {"overlap"}},
    {"no overlap across vrfs",
     segment("x", "tenant = \"red\"\nv4 = \"10.1.0.128/25\"\ninside = \"open\""),
     {}},
    {"overlap within a segment",
     segment("x", "tenant = \"red\"\nv4 = [\"10.9.0.0/24\", \"10.9.0.0/25\"]\ninside = \"open\""),
     {"overlap"}},
    {"external in a vrf's segment", "[external.x]\nv4 = \"10.1.0.0/25\"\n", {"overlap"}},
    {"external around segments",
     "[external.x]\nv4 = \"10.0.0.0/8\"\n",
     {"overlap", "overlap", "overlap"}},
    {"two externals",
     "[external.x]\nv4 = \"192.0.2.0/24\"\n[external.y]\nv4 = \"192.0.2.0/25\"\n",
     {"overlap"}},
    {"two rests", "[external.x]\nv4 = \"rest\"\n", {"two-rests"}},
    {"external of nothing", "[external.x]\n", {"missing-key"}},
    {"vrf without table", "[vrf.x]\n", {"missing-key"}},
    {"kernel's table", "[vrf.x]\ntable = 254\n", {"reserved-table"}},
    {"table twice", "[vrf.x]\ntable = 101\n", {"duplicate-vrf-number"}},
    {"vni twice",
     "[vrf.x]\ntable = 1\nvni = 5\n[vrf.y]\ntable = 2\nvni = 5\n",
     {"duplicate-vrf-number"}},
    {"leak to nowhere", "[vrf.x]\ntable = 1\nleaks = [{ vrf = \"z\" }]\n", {"unknown-name"}},
    {"leak to itself", "[vrf.x]\ntable = 1\nleaks = [{ vrf = \"x\" }]\n", {"leak-to-itself"}},
    {"leak one way",
     "[vrf.x]\ntable = 1\nleaks = [{ vrf = \"red\", v4 = \"10.1.0.0/24\" }]\n",
     {"leak-one-way"}},
    {"leak outside",
     "[vrf.x]\ntable = 1\nleaks = [{ vrf = \"red\", v4 = \"10.7.0.0/24\" }]\n",
     {"leak-one-way", "leak-outside-vrf"}},
    {"leak both ways",
     "[vrf.x]\ntable = 1\nleaks = [{ vrf = \"y\" }]\n[vrf.y]\ntable = 2\nleaks = [{ vrf = \"x\" "
     "}]\n",
     {}},
    {"pkey 0", "[ib_partition.x]\ntenant = \"red\"\npkey = 0\n", {"bad-pkey"}},
    {"pkey of the default partition",
     "[ib_partition.x]\ntenant = \"red\"\npkey = 0xffff\n",
     {"bad-pkey"}},
    {"pkey of 17 bits", "[ib_partition.x]\ntenant = \"red\"\npkey = 0x10001\n", {"out-of-range"}},
    {"pkey with the top bit",
     "[ib_partition.x]\ntenant = \"red\"\npkey = 0x8123\n",
     {"pkey-top-bit"}},
    {"name of a bad shape", "[tenant.\"a b\"]\n", {"bad-name"}},
    {"name too long", "[tenant." + std::string(64, 'x') + "]\n", {"bad-name"}},
    {"reserved name", "[tenant.ALL]\n", {"reserved-name"}},
    {"reserved name in another case", "[tenant.Any]\n", {"reserved-name"}},
    {"segment and partition of one name",
     "[ib_partition.nfs]\ntenant = \"stor\"\n",
     {"name-collision"}},
    {"one name after cleaning", "[tenant.a-b]\n[tenant.a_b]\n", {"name-collision"}},
    {"names that are nft keywords are fine", "[tenant.fwd]\n[tenant.mark]\n[tenant.1abc]\n", {}},
};

const std::vector<Case> kServices = {
    {"ranges and numbers",
     "[service.x]\ntcp = [22, \"6800-7300\", \"443\"]\nudp = \"1-100\"\n",
     {}},
    {"every kind",
     "[service.x]\nsctp = 36412\nicmp = [\"echo\", \"timestamp\"]\nip = [50, 51]\ndhcp = "
     "true\nroce = true\ngpudirect = true\n",
     {}},
    {"multicast", "[service.x]\nip = 112\nto = [\"224.0.0.18\", \"ff02::12\"]\n", {}},
    {"broadcast of a segment", "[service.x]\nip = 112\nto = \"10.3.0.255\"\n", {}},
    {"unicast group", "[service.x]\nip = 112\nto = \"10.3.0.7\"\n", {"bad-group"}},
    {"group that is no address", "[service.x]\nip = 112\nto = \"all\"\n", {"bad-address"}},
    {"group without ip", "[service.x]\ntcp = 22\nto = \"224.0.0.18\"\n", {"group-without-ip"}},
    {"port 0", "[service.x]\ntcp = 0\n", {"bad-port"}},
    {"port 65536", "[service.x]\ntcp = 65536\n", {"bad-port"}},
    {"descending range", "[service.x]\ntcp = \"30-20\"\n", {"bad-port"}},
    {"half a range", "[service.x]\ntcp = \"20-\"\n", {"bad-port"}},
    {"negative port", "[service.x]\ntcp = -22\n", {"bad-port"}},
    {"port by name", "[service.x]\ntcp = \"ssh\"\n", {"bad-port"}},
    {"port as a number with a point", "[service.x]\ntcp = 22.0\n", {"wrong-type"}},
    {"unknown icmp", "[service.x]\nicmp = \"ehco\"\n", {"bad-icmp"}},
    {"icmp error", "[service.x]\nicmp = \"unreachable\"\n", {"bad-icmp"}},
    {"ip 6", "[service.x]\nip = 6\n", {"bad-protocol"}},
    {"ip 0", "[service.x]\nip = 0\n", {"bad-protocol"}},
    {"ip by name", "[service.x]\nip = \"esp\"\n", {"bad-protocol"}},
    {"roce port", "[service.x]\nudp = \"4000-5000\"\n", {"roce-port"}},
    {"roce port alone", "[service.x]\nudp = 4791\n", {"empty-service", "roce-port"}},
    {"tcp 4791 is its own", "[service.x]\ntcp = 4791\n", {}},
    {"gpudirect alone", "[service.x]\ngpudirect = true\n", {"gpudirect-alone"}},
    {"nothing", "[service.x]\n", {"empty-service"}},
    {"nothing but false", "[service.x]\nroce = false\n", {"empty-service"}},
    {"reserved", "[service.any]\ntcp = 1\n", {"reserved-name"}},
};

const std::vector<Case> kFlows = {
    {"a flow",
     flow("F1", "red-a.web", "blue-a", "\"ssh\"",
          "why = \"w\"\nowner = \"o\"\nticket = \"t\"\nexpires = 2027-06-30"),
     {}},
    {"every selector",
     flow("F1", "tenant:red", "enforcer:fw", "\"ssh\"") +
         flow("F2", "external:world", "blue-a", "\"web\"") +
         flow("F3", "any", "blue-a", "\"ping\"") +
         flow("F4", "tenant:*", "external:world", "\"dns\""),
     {"one-family"}},
    {"sides as lists",
     "[[flow]]\nid = \"F1\"\nfrom = [\"red-a.web\", \"red-a.db\"]\nto = [\"blue-a\"]\nservices = "
     "\"ssh\"\n",
     {}},
    {"no id", "[[flow]]\nfrom = \"any\"\nto = \"blue-a\"\nservices = [\"ssh\"]\n", {"missing-key"}},
    {"no services", "[[flow]]\nid = \"F\"\nfrom = \"any\"\nto = \"blue-a\"\n", {"missing-key"}},
    {"bad id", flow("F 1", "any", "blue-a", "\"ssh\""), {"bad-id"}},
    {"id of ours", flow("default", "any", "blue-a", "\"ssh\""), {"reserved-name"}},
    {"id twice",
     flow("F1", "any", "blue-a", "\"ssh\"") + flow("F1", "any", "nfs", "\"ssh\""),
     {"duplicate-id", "one-family"}},
    {"bad action", flow("F1", "any", "blue-a", "\"ssh\"", "action = \"alow\""), {"bad-value"}},
    {"bad date", flow("F1", "any", "blue-a", "\"ssh\"", "expires = \"2027-13-01\""), {"bad-date"}},
    {"not a date", flow("F1", "any", "blue-a", "\"ssh\"", "expires = 7"), {"wrong-type"}},
    {"unknown segment", flow("F1", "red-b", "blue-a", "\"ssh\""), {"unknown-name"}},
    {"unknown tenant", flow("F1", "tenant:rad", "blue-a", "\"ssh\""), {"unknown-name"}},
    {"unknown enforcer", flow("F1", "enforcer:fv", "blue-a", "\"ssh\""), {"unknown-name"}},
    {"unknown external", flow("F1", "external:moon", "blue-a", "\"ssh\""), {"unknown-name"}},
    {"unknown service", flow("F1", "red-a", "blue-a", "\"shh\""), {"unknown-name"}},
    {"star", flow("F1", "*", "blue-a", "\"ssh\""), {"bad-selector"}},
    {"ALL", flow("F1", "ALL", "blue-a", "\"ssh\""), {"bad-selector"}},
    {"any with a label", flow("F1", "any.web", "blue-a", "\"ssh\""), {"bad-selector"}},
    {"empty selector", flow("F1", "", "blue-a", "\"ssh\""), {"bad-selector"}},
    {"unknown prefix", flow("F1", "host:x", "blue-a", "\"ssh\""), {"bad-selector"}},
    {"unknown label", flow("F1", "red-a.wbe", "blue-a", "\"ssh\""), {"unknown-label"}},
    {"label of others", flow("F1", "blue-a.web", "red-a.db", "\"ssh\""), {"empty-selection"}},
    {"segment without members",
     segment("x", kOk) + flow("F1", "x", "blue-a", "\"ssh\""),
     {"empty-selection"}},
    {"empty services", flow("F1", "red-a", "blue-a", ""), {"empty-list"}},
    {"expired", flow("F1", "red-a", "blue-a", "\"ssh\"", "expires = 2026-11-30"), {"expired-flow"}},
    {"last day", flow("F1", "red-a", "blue-a", "\"ssh\"", "expires = 2026-12-01"), {}},
    {"hidden",
     flow("F1", "red-a.web", "blue-a", "\"ssh\"") +
         flow("F2", "tenant:red", "tenant:blue", "\"ssh\", \"web\"", "action = \"deny\""),
     {"hidden-allow"}},
    {"hidden by two",
     flow("F1", "red-a", "blue-a", "\"web\"") +
         flow("F2", "red-a.web", "any", "\"web\"", "action = \"deny\"") +
         flow("F3", "red-a.db", "blue-a", "\"web\"", "action = \"deny\""),
     {"hidden-allow"}},
    {"partly denied is how exceptions are written",
     flow("F1", "red-a", "blue-a", "\"web\"") +
         flow("F2", "red-a.web", "blue-a", "\"web\"", "action = \"deny\""),
     {}},
    {"an expired deny hides nothing",
     flow("F1", "red-a", "blue-a", "\"ssh\"") +
         flow("F2", "red-a", "blue-a", "\"ssh\"", "action = \"deny\"\nexpires = 2020-01-01"),
     {"expired-flow"}},
    {"no family on both sides", flow("F1", "nfs", "only6", "\"ssh\""), {"no-common-family"}},
    {"one family", flow("F1", "red-a", "nfs", "\"ssh\""), {"one-family"}},
    {"ib between segments",
     flow("F1", "red-a", "nfs", "\"verbs\"", "both_ways = true"),
     {"one-family", "wrong-carrier"}},
    {"tcp between partitions", flow("F1", "red-ib", "stor-ib", "\"ssh\""), {"wrong-carrier"}},
    {"ib one way", flow("F1", "red-ib", "stor-ib", "\"verbs\""), {"ib-one-way"}},
    {"ib both ways", flow("F1", "red-ib", "stor-ib", "\"verbs\"", "both_ways = true"), {}},
    {"ib by two flows",
     flow("F1", "red-ib", "stor-ib", "\"verbs\"") + flow("F2", "stor-ib", "red-ib", "\"verbs\""),
     {}},
    {"ib denied one way",
     flow("F1", "red-ib", "stor-ib", "\"verbs\"", "both_ways = true") +
         flow("F2", "stor-ib", "red-ib", "\"verbs\"", "action = \"deny\""),
     {"ib-one-way"}},
};

std::string never(const std::string& keys) {
  return "[[never]]\nid = \"N1\"\n" + keys + "\n";
}

const std::vector<Case> kNevers = {
    {"nothing crosses", never("from = \"tenant:red\"\nto = \"tenant:blue\""), {}},
    {"an allow crosses",
     never("from = \"tenant:red\"\nto = \"tenant:blue\"") +
         flow("F1", "red-a.web", "blue-a", "\"ssh\""),
     {"never-crossed"}},
    {"both_ways crosses backwards",
     never("from = \"tenant:blue\"\nto = \"tenant:red\"") +
         flow("F1", "red-a.web", "blue-a", "\"ssh\"", "both_ways = true"),
     {"never-crossed"}},
    {"a denied allow crosses all the same",
     never("from = \"tenant:red\"\nto = \"tenant:blue\"") +
         flow("F1", "red-a.web", "blue-a", "\"ssh\"") +
         flow("F2", "red-a", "blue-a", "\"ssh\"", "action = \"deny\""),
     {"hidden-allow", "never-crossed"}},
    {"an expired allow is absent",
     never("from = \"tenant:red\"\nto = \"tenant:blue\"") +
         flow("F1", "red-a.web", "blue-a", "\"ssh\"", "expires = 2020-01-01"),
     {"expired-flow"}},
    {"a deny never crosses",
     never("from = \"tenant:red\"\nto = \"tenant:blue\"") +
         flow("F1", "red-a.web", "blue-a", "\"ssh\"", "action = \"deny\""),
     {}},
    {"another service",
     never("from = \"tenant:red\"\nto = \"tenant:blue\"\nservices = \"web\"") +
         flow("F1", "red-a.web", "blue-a", "\"ssh\""),
     {}},
    {"excepted by name",
     never("from = \"any\"\nto = \"blue-a\"\nexcept = [\"red-a.web\", \"same-tenant\"]") +
         flow("F1", "red-a.web", "blue-a", "\"ssh\""),
     {}},
    {"excepted is another",
     never("from = \"any\"\nto = \"blue-a\"\nexcept = [\"red-a.web\", \"same-tenant\"]") +
         flow("F1", "red-a.db", "blue-a", "\"ssh\""),
     {"never-crossed"}},
    {"an open segment crosses", never("from = \"tenant:*\"\nto = \"blue-a\""), {"never-crossed"}},
    {"unknown name in except",
     never("from = \"tenant:red\"\nto = \"blue-a\"\nexcept = \"same-tenat\""),
     {"unknown-name"}},
    {"empty services",
     never("from = \"tenant:red\"\nto = \"blue-a\"\nservices = []"),
     {"empty-list"}},
    {"empty side", never("from = []\nto = \"blue-a\""), {"empty-list"}},
    {"id of a flow",
     never("from = \"tenant:red\"\nto = \"tenant:blue\"") + flow("N1", "red-a", "nfs", "\"ssh\""),
     {"duplicate-id", "one-family"}},
    {"action", never("from = \"tenant:red\"\nto = \"blue-a\"\naction = \"deny\""), {"unknown-key"}},
};

class Diagnosed : public testing::TestWithParam<const std::vector<Case>*> {};

TEST_P(Diagnosed, EachCase) {
  for (const Case& one : *GetParam()) {
    const Checked checked = check_base(one.added);
    EXPECT_THAT(checked.codes(), ElementsAreArray(one.codes)) << one.name << "\n"
                                                              << checked.rendered();
  }
}
INSTANTIATE_TEST_SUITE_P(Places, Diagnosed, testing::Values(&kPlaces));
INSTANTIATE_TEST_SUITE_P(Services, Diagnosed, testing::Values(&kServices));
INSTANTIATE_TEST_SUITE_P(Flows, Diagnosed, testing::Values(&kFlows));
INSTANTIATE_TEST_SUITE_P(Nevers, Diagnosed, testing::Values(&kNevers));

TEST(Hints, ANameThatIsNotThereLeadsToTheOneThatWasMeant) {
  const std::pair<std::string, const char*> kCases[] = {
      {flow("F1", "red-aa", "blue-a", "\"ssh\""), "did you mean `red-a`?"},
      {flow("F1", "red-a.webb", "blue-a", "\"ssh\""), "did you mean `web`?"},
      {flow("F1", "red-a", "fw", "\"ssh\""), "`enforcer:fw` is the enforcer of that name"},
      {flow("F1", "tennant:red", "blue-a", "\"ssh\""), "did you mean `tenant:red`?"},
      {flow("F1", "red-a", "extrnal:world", "\"ssh\""), "did you mean `external:world`?"},
      {flow("F1", "red-a", "host:x", "\"ssh\""), "write SEGMENT, SEGMENT.LABEL"},
      {flow("F1", "red-a", "blue-a", "\"any\""), "never every service"},
  };
  for (const auto& [added, hint] : kCases) {
    const Checked checked = check_base(added);
    EXPECT_EQ(checked.diagnostics.error_count(), 1U) << checked.rendered();
    EXPECT_THAT(checked.rendered(), testing::HasSubstr(hint));
  }
}

}  // namespace
}  // namespace bulkhead::policy
