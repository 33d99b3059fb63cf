#include "policy/matrix.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "policy/explain.h"
#include "tests/unit/compiler/site_text.h"

namespace bulkhead {
namespace {

using policy::Action;
using policy::Kind;
using testing::ElementsAre;
using testing::IsEmpty;

// Segments a, b (both families) and c (v4 only) of one tenant, on one enforcer.
constexpr std::string_view kPolicy = R"(name = "three"
[tenant.t]
[segment.a]
tenant = "t"
vlan = 1
v4 = "10.0.1.0/24"
v6 = "fd00:1::/64"
gateway = "fw"
inside = "open"
[segment.b]
tenant = "t"
vlan = 2
v4 = "10.0.2.0/24"
v6 = "fd00:2::/64"
gateway = "fw"
inside = "open"
[segment.c]
tenant = "t"
vlan = 3
v4 = "10.0.3.0/24"
gateway = "fw"
inside = "isolated"
isolated_by = "sw"
[external.world]
v4 = "rest"
v6 = "rest"
[service.ssh]
tcp = [22]
[service.web]
tcp = [80, "8000-8010"]
[service.low]
tcp = ["1-1023"]
[service.dns]
tcp = [53]
udp = [53]
[service.dns-udp]
udp = [53]
[service.trace]
udp = ["33434-33534"]
[service.ping]
icmp = ["echo"]
[service.mask]
icmp = ["address-mask"]
)";

constexpr std::string_view kInventory = R"(
[enforcer.fw]
kind = "router"
[enforcer.fw.legs]
a0 = { segment = "a", v4 = "10.0.1.1/24", v6 = "fd00:1::1/64" }
b0 = { segment = "b", v4 = "10.0.2.1/24", v6 = "fd00:2::1/64" }
c0 = { segment = "c", v4 = "10.0.3.1/24" }
w0 = { external = "world", v4 = "203.0.113.2/29" }
[enforcer.sw]
kind = "switch"
separates = ["port"]
[host.a1]
labels = ["x"]
nic.e0 = { segment = "a", v4 = "10.0.1.11", v6 = "fd00:1::11" }
[host.a2]
labels = ["y", "x"]
nic.e0 = { segment = "a", v4 = "10.0.1.12", v6 = "fd00:1::12" }
[host.a9]
state = "spare"
nic.e0 = { segment = "a", v4 = "10.0.1.19" }
[host.b1]
nic.e0 = { segment = "b", v4 = "10.0.2.11", v6 = "fd00:2::11" }
[host.c1]
nic.e0 = { segment = "c", v4 = "10.0.3.11" }
[host.c2]
nic.e0 = { segment = "c", v4 = "10.0.3.12" }
)";

std::string flow(std::string_view id, std::string_view from, std::string_view to,
                 std::string_view services, std::string_view more = "") {
  return fmt::format("[[flow]]\nid = \"{}\"\nfrom = {}\nto = {}\nservices = {}\nwhy = \"w\"\n{}\n",
                     id, from, to, services, more);
}

compiler::Site with(const std::string& flows) {
  return site_of(std::string(kPolicy) + flows, std::string(kInventory));
}

// "a.x>b tcp 22 allow F1", for every piece of the matrix; "a.x>a.x everything" for open insides.
std::vector<std::string> pieces(const compiler::Site& site, bool with_insides = false) {
  std::vector<std::string> out;
  const auto& classes = site.matrix.universe.classes;
  for (const policy::Cell& cell : site.matrix.cells) {
    const std::string pair = classes[cell.from].name + ">" + classes[cell.to].name;
    if (cell.everything && with_insides)
      out.push_back(pair + " everything");
    for (const policy::Piece& piece : cell.pieces)
      out.push_back(fmt::format(
          "{} {} {} {}", pair, to_string(policy::Traffic{piece.key, PortSet{piece.ports}}),
          piece.action == Action::Allow ? "allow" : "deny", fmt::join(piece.rules, "+")));
  }
  return out;
}

TEST(Derive, OpenInsideIsAllowedAsAWholeAndIsolatedIsNot) {
  const auto site = with("");
  ASSERT_TRUE(site.ok()) << rendered(site);
  EXPECT_THAT(pieces(site, true),
              ElementsAre("a.x>a.x everything", "a.x>a.x+y everything", "a.x+y>a.x everything",
                          "a.x+y>a.x+y everything", "b>b everything"));
}

TEST(Derive, LabelsSelectEveryClassThatCarriesThem) {
  const auto site = with(flow("F1", "\"a.x\"", "\"b\"", "[\"ssh\"]") +
                         flow("F2", "\"a.y\"", "\"b\"", "[\"ping\"]"));
  ASSERT_TRUE(site.ok()) << rendered(site);
  EXPECT_THAT(pieces(site), ElementsAre("a.x>b tcp 22 allow F1", "a.x+y>b tcp 22 allow F1",
                                        "a.x+y>b icmp echo allow F2"));
}

// handed E12: order and ties never matter, a deny wins.
TEST(Derive, DenyBeatsAllowInAnyOrder) {
  const std::string allow = flow("F1", "\"a.x\"", "\"b\"", "[\"low\"]");
  const std::string deny = flow("F2", "\"a.y\"", "\"b\"", "[\"ssh\"]", "action = \"deny\"");
  for (const auto& flows : {allow + deny, deny + allow}) {
    const auto site = with(flows);
    ASSERT_TRUE(site.ok()) << rendered(site);
    EXPECT_THAT(pieces(site),
                ElementsAre("a.x>b tcp 1-1023 allow F1", "a.x+y>b tcp 1-21 allow F1",
                            "a.x+y>b tcp 22 deny F2", "a.x+y>b tcp 23-1023 allow F1"));
  }
}

// handed B18: a catch-all allow never outranks what isolation denies.
TEST(Derive, CatchAllAllowDoesNotOutrankADeny) {
  const auto site = with(flow("S1", "\"any\"", "\"any\"", "[\"low\"]") +
                         flow("I1", "\"b\"", "\"c\"", "[\"low\", \"web\"]", "action = \"deny\""));
  ASSERT_TRUE(site.ok()) << rendered(site);
  const policy::Cell* cell = site.matrix.find(id(site, "b"), id(site, "c"));
  ASSERT_NE(cell, nullptr);
  for (const policy::Piece& piece : cell->pieces)
    EXPECT_EQ(piece.action, Action::Deny);
  EXPECT_EQ(cell->pieces.size(), 2U);
}

TEST(Derive, AdjacentPiecesOfOneRuleAreOne) {
  const auto site = with(flow("F1", "\"b\"", "\"c\"", "[\"ssh\", \"low\", \"web\"]") +
                         flow("F2", "\"b\"", "\"c\"", "[\"web\"]"));
  ASSERT_TRUE(site.ok()) << rendered(site);
  EXPECT_THAT(pieces(site),
              ElementsAre("b>c tcp 1-79 allow F1", "b>c tcp 80 allow F1+F2",
                          "b>c tcp 81-1023 allow F1", "b>c tcp 8000-8010 allow F1+F2"));
}

// handed E16: one port of two protocols is two things.
TEST(Derive, ProtocolsNeverShareAPort) {
  const auto site =
      with(flow("F1", "\"b\"", "\"c\"", "[\"dns\"]") + flow("F2", "\"a.y\"", "\"c\"", "[\"dns\"]") +
           flow("F3", "\"a.y\"", "\"c\"", "[\"dns-udp\"]", "action = \"deny\""));
  ASSERT_TRUE(site.ok()) << rendered(site);
  EXPECT_THAT(pieces(site), ElementsAre("a.x+y>c tcp 53 allow F2", "a.x+y>c udp 53 deny F3",
                                        "b>c tcp 53 allow F1", "b>c udp 53 allow F1"));
}

// handed E10: any is every class, the enforcers themselves included, spares not; an outside world
// is no pair with itself.
TEST(Derive, AnyIsEveryClassButSpares) {
  const auto site = with(flow("F1", "\"any\"", "\"external:world\"", "[\"ssh\"]"));
  ASSERT_TRUE(site.ok()) << rendered(site);
  EXPECT_THAT(
      pieces(site),
      ElementsAre("a.x>external:world tcp 22 allow F1", "a.x+y>external:world tcp 22 allow F1",
                  "b>external:world tcp 22 allow F1", "c>external:world tcp 22 allow F1",
                  "enforcer:fw>external:world tcp 22 allow F1"));
  EXPECT_NE(site.matrix.universe.find("a!spare"), nullptr);
}

// handed E02: a name without members in a family is never "any" there; also for a deny.
TEST(Derive, NothingIsSaidWhereNoFamilyIsShared) {
  const std::string v6_only = R"([segment.d]
tenant = "t"
vlan = 4
v6 = "fd00:4::/64"
gateway = "fw"
inside = "open"
)";
  const std::string d_facts = R"(
[host.d1]
nic.e0 = { segment = "d", v6 = "fd00:4::11" }
)";
  std::string inventory(kInventory);
  inventory.replace(inventory.find("w0 ="), 0, "d0 = { segment = \"d\", v6 = \"fd00:4::1/64\" }\n");
  for (const char* action : {"allow", "deny"}) {
    const auto site = site_of(std::string(kPolicy) + v6_only +
                                  flow("F1", "\"c\"", "[\"b\", \"d\"]", "[\"trace\"]",
                                       fmt::format("action = \"{}\"", action)),
                              inventory + d_facts);
    ASSERT_TRUE(site.ok()) << rendered(site);
    EXPECT_THAT(pieces(site), ElementsAre(fmt::format("c>b udp 33434-33534 {} F1", action)));
  }
}

TEST(Derive, AnIcmpQueryRunsWhereItsFamilyKnowsIt) {
  EXPECT_EQ(policy::carriers({Kind::Icmp, 0, {}}, 0),
            static_cast<policy::Carriers>(policy::Carrier::V4) |
                static_cast<policy::Carriers>(policy::Carrier::V6));
  EXPECT_EQ(policy::carriers({Kind::Icmp, 0, {}}, 2),
            static_cast<policy::Carriers>(policy::Carrier::V4));
}

// handed E06: an empty list is nobody.
TEST(Derive, AnEmptyListIsNobody) {
  const auto site = with(flow("F1", "[]", "\"c\"", "[\"ssh\"]"));
  EXPECT_THAT(pieces(site), IsEmpty());
}

TEST(Derive, AnExpiredFlowIsAbsentFromTheNextDayOn) {
  const auto ends_today = with(flow("F1", "\"b\"", "\"c\"", "[\"ssh\"]", "expires = 2026-12-01"));
  EXPECT_THAT(pieces(ends_today), ElementsAre("b>c tcp 22 allow F1"));
  const auto ended = with(flow("F1", "\"b\"", "\"c\"", "[\"ssh\"]", "expires = 2026-11-30"));
  EXPECT_THAT(pieces(ended), IsEmpty());
}

TEST(Derive, BothWaysSpeaksOfTheReverseToo) {
  const auto site = with(flow("F1", "\"b\"", "\"c\"", "[\"ssh\"]", "both_ways = true"));
  EXPECT_THAT(pieces(site), ElementsAre("b>c tcp 22 allow F1", "c>b tcp 22 allow F1"));
}

TEST(Explain, NamesTheLineThatDecides) {
  const auto site = with(flow("F1", "\"b\"", "\"c\"", "[\"low\"]") +
                         flow("F2", "\"b\"", "\"c\"", "[\"ssh\"]", "action = \"deny\"") +
                         flow("F3", "\"b\"", "\"c\"", "[\"web\"]", "expires = 2026-01-01"));
  const auto ask = [&](std::string_view from, std::string_view to, std::uint16_t port) {
    return policy::explain(site.policy, site.matrix,
                           {id(site, from), id(site, to), {Kind::Tcp, 0, {}}, port});
  };
  const auto denied = ask("b", "c", 22);
  EXPECT_EQ(denied.action, Action::Deny);
  EXPECT_EQ(denied.rule, "F2");
  ASSERT_EQ(denied.lines.size(), 2U);
  EXPECT_EQ(denied.lines[0].text, "hidden by F2");
  EXPECT_EQ(denied.lines[1].text, "denies");
  EXPECT_EQ(site.sources.place(denied.lines[0].at).substr(0, 12), "policy.toml:");

  EXPECT_EQ(ask("b", "c", 23).rule, "F1");
  const auto expired = ask("b", "c", 8000);
  EXPECT_EQ(expired.rule, policy::kRuleDefault);
  ASSERT_EQ(expired.lines.size(), 1U);
  EXPECT_EQ(expired.lines[0].text, "expired on 2026-01-01");

  EXPECT_EQ(ask("a.x", "a.x+y", 9).rule, policy::kRuleInside);
  EXPECT_THAT(ask("a!spare", "b", 9).reason, testing::HasSubstr("spare"));
}

}  // namespace
}  // namespace bulkhead
