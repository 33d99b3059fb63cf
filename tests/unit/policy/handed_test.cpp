// Faults that others reported in public, named after their number in the list of cases.
#include <gmock/gmock.h>

#include "policy/matrix.h"
#include "tests/unit/policy/checked.h"

namespace bulkhead::policy {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string flow(const std::string& id, const std::string& from, const std::string& to,
                 const std::string& services, const std::string& more = "") {
  return "[[flow]]\nid = \"" + id + "\"\nfrom = " + from + "\nto = " + to +
         "\nservices = " + services + "\n" + more + "\n";
}

struct Meaning {
  Checked checked;
  Matrix matrix;
  explicit Meaning(const std::string& added)
      : checked(check_base(added)),
        matrix(derive(checked.policy, checked.universe, *parse_date("2026-12-01"))) {}
  // "allow tcp 53 by F1", one for each piece of the cell.
  [[nodiscard]] std::vector<std::string> cell(const char* from, const char* to) const {
    std::vector<std::string> out;
    const Cell* cell = matrix.find(*checked.universe.id_of(from), *checked.universe.id_of(to));
    if (!cell)
      return out;
    for (const Piece& piece : cell->pieces) {
      std::string text = piece.action == Action::Allow ? "allow " : "deny ";
      text += to_string(Traffic{piece.key, {piece.ports}}) + " by";
      for (const std::string& rule : piece.rules)
        text += " " + rule;
      out.push_back(text);
    }
    return out;
  }
};

// 2.3.4.0/8 would be widened to sixteen million addresses without a word.
TEST(Handed, A28_HostBitsAreRefusedWithThePrefixThatWasMeant) {
  const Checked checked =
      check_base("[segment.x]\ntenant = \"red\"\nv4 = \"10.64.3.4/10\"\ninside = \"open\"\n");
  ASSERT_THAT(checked.codes(), ElementsAre("host-bits"));
  EXPECT_THAT(checked.diagnostics.all()[0].hint, HasSubstr("`10.64.0.0/10`"));
  EXPECT_EQ(checked.sources.place(checked.diagnostics.all()[0].at), "policy.toml:50:6");
}

TEST(Handed, A26_TenantsNamedLikeKeywordsAreFine) {
  for (const char* name : {"fwd", "mark", "log", "vlan", "ip", "ct", "queue", "limit", "counter",
                           "comment", "size", "flags", "policy", "type", "hook", "1abc"}) {
    EXPECT_THAT(check_base("[tenant." + std::string(name) + "]\n").codes(), IsEmpty()) << name;
  }
}

TEST(Handed, A15_OverlappingPrefixesAreOurErrorNotTheKernels) {
  const Checked checked =
      check_base("[external.block]\nv4 = [\"5.188.10.0/23\", \"5.188.11.0/24\"]\n");
  EXPECT_THAT(checked.codes(), ElementsAre("overlap"));
}

// An isolation rule and a permission are not ranked in one list: the deny wins, whatever allows.
TEST(Handed, B18_ACatchAllAllowDoesNotOutrankADeny) {
  const Meaning meaning(
      flow("isolate", "\"blue-a\"", "\"red-a\"", "[\"web\"]", "action = \"deny\"") +
      flow("catchall", "\"any\"", "\"red-a\"", "[\"web\", \"ssh\"]"));
  EXPECT_THAT(
      meaning.cell("blue-a", "red-a.web"),
      ElementsAre("allow tcp 22 by catchall", "deny tcp 80 by isolate", "deny tcp 443 by isolate"));
}

TEST(Handed, C04_KeysThatDifferInTheTopBitAloneAreOne) {
  const Checked checked = check_base(
      "[ib_partition.a]\ntenant = \"red\"\npkey = 0x8001\n"
      "[ib_partition.b]\ntenant = \"blue\"\npkey = 0x0001\n");
  EXPECT_THAT(checked.codes(), ElementsAre("pkey-collision", "pkey-top-bit"));
  EXPECT_TRUE(checked.diagnostics.has_errors());
}

// Present and empty is nobody; absent is an error. Neither is everybody.
TEST(Handed, D15_EmptyAndMissingAreNotTheSame) {
  EXPECT_THAT(check_base(flow("F", "[]", "\"blue-a\"", "[\"ssh\"]")).codes(),
              ElementsAre("empty-list"));
  EXPECT_THAT(check_base("[[flow]]\nid = \"F\"\nto = \"blue-a\"\nservices = [\"ssh\"]\n").codes(),
              ElementsAre("missing-key"));
  const Meaning nobody(flow("F", "[]", "\"blue-a\"", "[\"ssh\"]"));
  EXPECT_THAT(nobody.cell("red-a.web", "blue-a"), IsEmpty());
}

TEST(Handed, E02_AOneFamilySideIsNotAnyInTheOther) {
  for (const char* action : {"action = \"allow\"", "action = \"deny\""}) {
    const Checked checked = check_base(flow("F", "\"red-a\"", "\"nfs\"", "[\"dns\"]", action));
    ASSERT_THAT(checked.codes(), ElementsAre("one-family"));
    EXPECT_EQ(checked.diagnostics.all()[0].severity, Severity::Note);
    EXPECT_THAT(checked.diagnostics.all()[0].message, HasSubstr("v4 alone"));
  }
}

TEST(Handed, E06_AnEmptyListIsNobodyWithAWarning) {
  const Meaning meaning("[service.ceph]\ntcp = [3300, 6789]\n" +
                        flow("F", "[]", "\"nfs\"", "[\"ceph\"]"));
  EXPECT_THAT(meaning.checked.codes(), ElementsAre("empty-list"));
  EXPECT_FALSE(meaning.checked.diagnostics.has_errors());
  for (const Cell& cell : meaning.matrix.cells)
    EXPECT_TRUE(cell.everything);  // of open segments; no flow says anything
}

TEST(Handed, AnEnforcerAloneHasNobodyToSpeakTo) {
  const Checked checked = check_base(flow("F", "\"enforcer:fw\"", "\"enforcer:fw\"", "[\"ssh\"]"));
  EXPECT_THAT(checked.codes(), ElementsAre("to-itself"));
  EXPECT_FALSE(checked.diagnostics.has_errors());
}

TEST(Handed, E06_ALabelThatNobodyCarriesHereIsNobody) {
  const Checked checked = check_base(flow("F", "\"nfs.web\"", "\"blue-a\"", "[\"ssh\"]"));
  EXPECT_THAT(checked.codes(), ElementsAre("empty-selection"));
  EXPECT_FALSE(checked.diagnostics.has_errors());
}

TEST(Handed, E08_APortWithAllProtocolsIsAnError) {
  for (const char* service : {"port = 22", "ports = [22]", "proto = \"all\"\nport = 22",
                              "all = [22]", "any = [22]", "protocol = \"all\""}) {
    EXPECT_THAT(check_base("[service.x]\n" + std::string(service) + "\n").codes(),
                Contains("port-without-protocol"))
        << service;
  }
  // Numbers of protocols that have ports or types are the same trap.
  for (const char* number : {"6", "17", "132", "1", "58", "0", "255"}) {
    EXPECT_THAT(check_base("[service.x]\nip = " + std::string(number) + "\n").codes(),
                ElementsAre("bad-protocol"))
        << number;
  }
}

TEST(Handed, E10_EveryUndefinedPairIsDeny) {
  const Meaning meaning(flow("F", "\"red-a.web\"", "\"any\"", "[\"ssh\"]"));
  EXPECT_THAT(meaning.cell("red-a.web", "blue-a"), ElementsAre("allow tcp 22 by F"));
  EXPECT_THAT(meaning.cell("red-a.web", "enforcer:fw"), ElementsAre("allow tcp 22 by F"));
  EXPECT_THAT(meaning.cell("blue-a", "red-a.web"), IsEmpty());
  EXPECT_THAT(meaning.cell("red-a.db", "blue-a"), IsEmpty());
}

TEST(Handed, E12_OrderNeverDecidesAndAHiddenAllowIsTold) {
  const std::string allow = flow("A", "\"red-a\"", "\"blue-a\"", "[\"ssh\"]");
  const std::string deny = flow("D", "\"red-a\"", "\"blue-a\"", "[\"ssh\"]", "action = \"deny\"");
  const Meaning first(allow + deny), second(deny + allow);
  for (const Meaning* meaning : {&first, &second}) {
    EXPECT_THAT(meaning->checked.codes(), ElementsAre("hidden-allow"));
    EXPECT_THAT(meaning->cell("red-a.web", "blue-a"), ElementsAre("deny tcp 22 by D"));
  }
  const Diagnostic& told = first.checked.diagnostics.all()[0];
  EXPECT_THAT(told.message, HasSubstr("`D`"));
  ASSERT_EQ(told.related.size(), 1U);
}

TEST(Handed, E16_TcpAndUdpOfOnePortAreTwoPieces) {
  const Meaning meaning(
      flow("A", "[\"red-a.web\", \"red-a.db\"]", "\"blue-a\"", "[\"dns\"]") +
      "[service.dns-udp]\nudp = 53\n" +
      flow("D", "\"red-a.db\"", "\"blue-a\"", "[\"dns-udp\"]", "action = \"deny\""));
  EXPECT_THAT(meaning.cell("red-a.web", "blue-a"),
              ElementsAre("allow tcp 53 by A", "allow udp 53 by A"));
  EXPECT_THAT(meaning.cell("red-a.db", "blue-a"),
              ElementsAre("allow tcp 53 by A", "deny udp 53 by D"));
}

TEST(Handed, E18_ThePartlyShadowedIsNoFinding) {
  EXPECT_THAT(check_base(flow("A", "\"any\"", "\"blue-a\"", "[\"ssh\", \"web\"]") +
                         flow("D", "\"red-a\"", "\"blue-a\"", "[\"ssh\"]", "action = \"deny\""))
                  .codes(),
              IsEmpty());
}

TEST(Handed, E20_IcmpIsBothFamilies) {
  const Meaning meaning(flow("F", "\"red-a\"", "\"blue-a\"", "[\"ping\"]"));
  EXPECT_THAT(meaning.checked.codes(), IsEmpty());
  EXPECT_THAT(meaning.cell("red-a.web", "blue-a"), ElementsAre("allow icmp echo by F"));
  ASSERT_TRUE(kIcmpQueries[0].v4_type && kIcmpQueries[0].v6_type);
}

}  // namespace
}  // namespace bulkhead::policy
