// Files given to tenants: what they may define and name, and whose consent they need.
#include <gmock/gmock.h>

#include "tests/unit/policy/checked.h"

namespace bulkhead::policy {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;

Checked check_red(const std::string& red, const std::string& root = {},
                  const std::string& stor = {}) {
  return check({{"policy.toml",
                 "include = [{ file = \"red.toml\", tenant = \"red\" }, "
                 "{ file = \"sub/stor.toml\", tenant = \"stor\" }]\n" +
                     (kBasePolicy + root)},
                {"red.toml", red},
                {"sub/stor.toml", stor}},
               kBaseClasses);
}

const std::string kFlow =
    "[[flow]]\nid = \"R1\"\nfrom = \"red-a.web\"\nto = \"only6\"\nservices = [\"ssh\"]\n";

struct Case {
  const char* name;
  std::string red, root, stor;
  std::vector<std::string> codes;
};

const Case kCases[] = {
    {"nothing", "", "", "", {}},
    {"own flow",
     "[[flow]]\nid = \"R1\"\nfrom = \"red-a\"\nto = \"red-ib\"\nservices = []\n",
     "",
     "",
     {"empty-list"}},
    {"own service", "[service.mine]\ntcp = 1\n", "", "", {}},
    {"flow without consent", kFlow, "", "", {"no-consent"}},
    {"offer of the root",
     kFlow,
     "[[offer]]\nfrom = \"tenant:*\"\nto = \"only6\"\nservices = [\"ssh\"]\n",
     "",
     {}},
    {"offer of the other side",
     kFlow,
     "",
     "[[offer]]\nfrom = \"red-a\"\nto = \"only6\"\nservices = [\"ssh\"]\n",
     {}},
    {"offer of oneself is none",
     kFlow + "[[offer]]\nfrom = \"red-a\"\nto = \"only6\"\nservices = [\"ssh\"]\n",
     "",
     "",
     {"no-consent"}},
    {"offer of fewer services",
     "[[flow]]\nid = \"R1\"\nfrom = \"red-a.web\"\nto = \"only6\"\n"
     "services = [\"ssh\", \"web\"]\n",
     "",
     "[[offer]]\nfrom = \"red-a\"\nto = \"only6\"\nservices = [\"ssh\"]\n",
     {"no-consent"}},
    {"two offers add up",
     "[[flow]]\nid = \"R1\"\nfrom = \"red-a.web\"\nto = \"only6\"\n"
     "services = [\"ssh\", \"web\"]\n",
     "[[offer]]\nfrom = \"red-a\"\nto = \"only6\"\nservices = [\"web\"]\n",
     "[[offer]]\nfrom = \"red-a\"\nto = \"only6\"\nservices = [\"ssh\"]\n",
     {}},
    {"offer to another label",
     kFlow,
     "",
     "[[offer]]\nfrom = \"red-a.db\"\nto = \"only6\"\nservices = [\"ssh\"]\n",
     {"no-consent"}},
    {"offer the other way round",
     kFlow,
     "",
     "[[offer]]\nfrom = \"only6\"\nto = \"red-a\"\nservices = [\"ssh\"]\n",
     {"no-consent"}},
    {"both_ways needs both",
     kFlow + "both_ways = true\n",
     "",
     "[[offer]]\nfrom = \"red-a\"\nto = \"only6\"\nservices = [\"ssh\"]\n",
     {"no-consent"}},
    {"keys know no direction",
     "[[flow]]\nid = \"R1\"\nfrom = \"red-ib\"\nto = \"stor-ib\"\nservices = [\"verbs\"]\n"
     "both_ways = true\n",
     "",
     "[[offer]]\nfrom = \"red-ib\"\nto = \"stor-ib\"\nservices = [\"verbs\"]\n",
     {}},
    {"a deny asks nobody", kFlow + "action = \"deny\"\n", "", "", {}},
    {"the root asks nobody", "", kFlow, "", {}},
    {"to the outside",
     "[[flow]]\nid = \"R1\"\nfrom = \"red-a\"\nto = \"external:world\"\n"
     "services = [\"web\"]\n",
     "",
     "",
     {"no-consent"}},
    {"from an enforcer",
     "[[flow]]\nid = \"R1\"\nfrom = \"enforcer:fw\"\nto = \"red-a\"\n"
     "services = [\"ping\"]\n",
     "",
     "",
     {"no-consent", "one-family"}},
    {"flow between others",
     "[[flow]]\nid = \"R1\"\nfrom = \"blue-a\"\nto = \"only6\"\n"
     "services = [\"ssh\"]\n",
     "",
     "",
     {"not-yours"}},
    {"any is not one's own",
     "[[flow]]\nid = \"R1\"\nfrom = \"any\"\nto = \"tenant:*\"\n"
     "services = [\"ssh\"]\n",
     "",
     "",
     {"no-consent", "not-yours"}},
    {"offer between others",
     "[[offer]]\nfrom = \"blue-a\"\nto = \"only6\"\n"
     "services = [\"ssh\"]\n",
     "",
     "",
     {"not-yours"}},
    {"another tenant", "[tenant.blue]\n", "", "", {"not-yours"}},
    {"itself, defined twice", "[tenant.red]\n", "", "", {"duplicate-name"}},
    {"never", "[[never]]\nid = \"N\"\nfrom = \"any\"\nto = \"red-a\"\n", "", "", {"not-yours"}},
    {"segment", "[segment.x]\n", "", "", {"not-yours"}},
    {"vrf", "[vrf.x]\n", "", "", {"not-yours"}},
    {"external", "[external.x]\n", "", "", {"not-yours"}},
    {"partition", "[ib_partition.x]\n", "", "", {"not-yours"}},
    {"include", "include = []\n", "", "", {"not-yours"}},
    {"site name", "name = \"x\"\n", "", "", {"not-yours"}},
    {"unknown key", "[enforcer.fw]\n", "", "", {"unknown-key"}},
    {"root flow by a tenant's service",
     "[service.mine]\ntcp = 1\n",
     "[[flow]]\nid = \"F1\"\nfrom = \"red-a\"\nto = \"only6\"\nservices = [\"mine\"]\n",
     "",
     {"not-yours"}},
    {"offer by the taker's service",
     "[service.mine]\ntcp = 1\n",
     "",
     "[[offer]]\nfrom = \"red-a\"\nto = \"only6\"\nservices = [\"mine\"]\n",
     {"not-yours"}},
    {"own service under a root offer of the same ports",
     "[service.mine]\ntcp = 22\n[[flow]]\nid = \"R1\"\nfrom = \"red-a\"\nto = \"only6\"\n"
     "services = [\"mine\"]\n",
     "[[offer]]\nfrom = \"tenant:*\"\nto = \"only6\"\nservices = [\"ssh\"]\n",
     "",
     {}},
    {"service that the root has", "[service.ssh]\ntcp = 1\n", "", "", {"duplicate-name"}},
    {"id that the root has",
     kFlow + "action = \"deny\"\n",
     "[[flow]]\nid = \"R1\"\nfrom = \"blue-a\"\nto = \"only6\"\nservices = [\"ssh\"]\n",
     "",
     {"duplicate-id"}},
    {"broken file beside good ones", "x = \n", "", "[tenant.blue]\n", {"not-yours", "toml-syntax"}},
};

TEST(Include, EachCase) {
  for (const Case& one : kCases) {
    const Checked checked = check_red(one.red, one.root, one.stor);
    // One-family notes are about the base's v6-only segment, not about authority.
    auto codes = checked.codes();
    if (std::find(one.codes.begin(), one.codes.end(), "one-family") == one.codes.end())
      std::erase(codes, "one-family");
    EXPECT_THAT(codes, ElementsAreArray(one.codes)) << one.name << "\n" << checked.rendered();
  }
}

TEST(Include, BothPlacesAreShown) {
  const Checked checked = check_red("[segment.x]\n");
  ASSERT_EQ(checked.diagnostics.all().size(), 1U);
  const Diagnostic& item = checked.diagnostics.all()[0];
  EXPECT_EQ(checked.sources.place(item.at), "red.toml:1:2");
  ASSERT_EQ(item.related.size(), 1U);
  EXPECT_EQ(checked.sources.place(item.related[0].at), "policy.toml:1:21");
}

TEST(Include, BadListsOfFiles) {
  const std::pair<const char*, const char*> cases[] = {
      {"{ file = \"/etc/passwd\", tenant = \"red\" }", "bad-path"},
      {"{ file = \"../x.toml\", tenant = \"red\" }", "bad-path"},
      {"{ file = \"a/../../x.toml\", tenant = \"red\" }", "bad-path"},
      {"{ file = \"\", tenant = \"red\" }", "bad-path"},
      {"{ file = \"a\\u0000b\", tenant = \"red\" }", "bad-path"},
      {"{ file = \"policy.toml\", tenant = \"red\" }", "include-cycle"},
      {"{ file = \"./policy.toml\", tenant = \"red\" }", "include-cycle"},
      {"{ file = \"red.toml\", tenant = \"red\" }, { file = \"./red.toml\", tenant = \"blue\" }",
       "duplicate-include"},
      {"{ file = \"missing.toml\", tenant = \"red\" }", "cannot-read"},
      {"{ file = \"red.toml\", tenant = \"rad\" }", "unknown-name"},
      {"{ file = \"red.toml\" }", "missing-key"},
      {"{ tenant = \"red\" }", "missing-key"},
      {"{ file = 1, tenant = \"red\" }", "wrong-type"},
      {"{ file = \"red.toml\", tenant = \"red\", x = 1 }", "unknown-key"},
      {"\"red.toml\"", "wrong-type"},
  };
  for (const auto& [list, code] : cases) {
    const Checked checked =
        check({{"policy.toml", std::string("include = [") + list + "]\n" + kBasePolicy},
               {"red.toml", ""}},
              kBaseClasses);
    EXPECT_THAT(checked.codes(), ElementsAre(code)) << list << "\n" << checked.rendered();
  }
}

TEST(Include, AtMost256) {
  std::string list;
  std::map<std::string, std::string> files;
  for (int i = 0; i < 300; ++i) {
    const std::string name = "f" + std::to_string(i) + ".toml";
    list += "{ file = \"" + name + "\", tenant = \"red\" },";
    files[name] = "";
  }
  files["policy.toml"] = "include = [" + list + "]\n" + kBasePolicy;
  EXPECT_THAT(check(files, kBaseClasses).codes(), ElementsAre("too-many-includes"));
}

TEST(Include, TwoFilesOfOneTenantShareItsServices) {
  const Checked checked = check(
      {{"policy.toml", std::string("include = [{ file = \"a.toml\", tenant = \"red\" }, "
                                   "{ file = \"b.toml\", tenant = \"red\" }]\n") +
                           kBasePolicy},
       {"a.toml", "[service.mine]\ntcp = 1\n"},
       {"b.toml",
        "[[flow]]\nid = \"R\"\nfrom = \"red-a.web\"\nto = \"red-a.db\"\nservices = [\"mine\"]\n"}},
      kBaseClasses);
  EXPECT_THAT(checked.codes(), IsEmpty()) << checked.rendered();
}

}  // namespace
}  // namespace bulkhead::policy
