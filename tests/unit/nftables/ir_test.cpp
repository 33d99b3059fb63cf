#include "compiler/ir.h"

#include <gtest/gtest.h>

#include "compiler/disjoint.h"
#include "compiler/targets/nftables.h"
#include "sketch.h"

namespace bulkhead::test {
namespace {

using compiler::Claim;
using compiler::disjoint;
namespace ir = compiler::ir;

ir::Enforcer enforcer_of(const compiler::Site& site) {
  return ir::make_enforcer(site, site.coverage.views.front());
}

Sketch two_legs() {
  Sketch s;
  s.leg("l0", {"10.0.0.1/24"}).leg("l1", {"10.1.0.1/24"});
  return s;
}

TEST(Disjoint, CutsOverlapsAndJoinsNeighbours) {  // A15
  using C = Claim<std::uint16_t, int>;
  const auto cut =
      disjoint(std::vector<C>{{{10, 20}, 1}, {{15, 30}, 2}, {{31, 40}, 2}, {{5, 5}, 1}});
  ASSERT_EQ(cut.size(), 4U);
  EXPECT_EQ(cut[0].range, (PortRange{5, 5}));
  EXPECT_EQ(cut[1].range, (PortRange{10, 14}));
  EXPECT_EQ(cut[2].range, (PortRange{15, 20}));
  EXPECT_EQ(cut[2].values, (std::vector{1, 2}));
  EXPECT_EQ(cut[3].range, (PortRange{21, 40}));
}

TEST(Disjoint, WorksAtTheEndsOfTheRange) {
  using C = Claim<std::uint16_t, int>;
  const auto cut = disjoint(std::vector<C>{{{0, 65535}, 1}, {{65535, 65535}, 2}, {{0, 0}, 3}});
  ASSERT_EQ(cut.size(), 3U);
  EXPECT_EQ(cut[0].values, (std::vector{1, 3}));
  EXPECT_EQ(cut[1].range, (PortRange{1, 65534}));
  EXPECT_EQ(cut[2].values, (std::vector{1, 2}));
}

TEST(Disjoint, KeepsFamiliesApart) {
  const auto cut =
      disjoint(std::vector<Claim<Address, int>>{{whole(Family::V4), 1}, {whole(Family::V6), 1}});
  EXPECT_EQ(cut.size(), 2U);
}

// A33: both families in one table, replaced once, so that neither deletes the other.
TEST(Nftables, A33_BothFamiliesAreOneTable) {
  const std::string text = Sketch()
                               .leg("l0", {"10.0.0.1/24", "fd00::1/64"})
                               .leg("l1", {"10.1.0.1/24", "fd01::1/64"})
                               .cls("a", "l0", {"10.0.0.2", "fd00::2"})
                               .cls("b", "l1", {"10.1.0.2", "fd01::2"})
                               .allow("F", "a", "b", {tcp(22)})
                               .nft();
  const auto count = [&](const std::string& what) {
    std::size_t times = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
      ++times;
    return times;
  };
  EXPECT_EQ(count("delete table"), 1U);
  EXPECT_EQ(count("table inet bulkhead {"), 1U);
  EXPECT_EQ(count("table ip "), 0U);
  EXPECT_EQ(count("table ip6 "), 0U);
  EXPECT_EQ(count("ip daddr vmap @d4_a"), 1U);
  EXPECT_EQ(count("ip6 daddr vmap @d6_a"), 1U);
}

// Conntrack takes a datagram to 4791 for the reply to a flow that came from there.
TEST(Nftables, EveryClassDecidesPort4791BeforeTheState) {
  const std::string text = two_legs()
                               .cls("a", "l0", {"10.0.0.2"})
                               .cls("b", "l1", {"10.1.0.2"})
                               .allow("F", "a", "b", {udp(53)})
                               .nft();
  for (const char* chain : {"chain c_a {", "chain c_b {", "chain c_enforcer_fw {"}) {
    const auto at = text.find(chain);
    ASSERT_NE(at, std::string::npos) << chain;
    EXPECT_LT(text.find("udp dport 4791 goto r_", at), text.find("ct state", at)) << chain;
  }
}

TEST(IntermediateForm, EqualServicesAreOneSet) {
  const auto site = two_legs()
                        .cls("a", "l0", {"10.0.0.2"})
                        .cls("b", "l0", {"10.0.0.3"})
                        .cls("c", "l1", {"10.1.0.2"})
                        .allow("F", "a", "c", {tcp(22)})
                        .allow("F", "b", "c", {tcp(22)})
                        .site();
  EXPECT_EQ(enforcer_of(site).sets.size(), 1U);
}

TEST(IntermediateForm, RuleIdsKeepSetsApart) {
  const auto site = two_legs()
                        .cls("a", "l0", {"10.0.0.2"})
                        .cls("b", "l0", {"10.0.0.3"})
                        .cls("c", "l1", {"10.1.0.2"})
                        .allow("F", "a", "c", {tcp(22)})
                        .allow("G", "b", "c", {tcp(22)})
                        .site();
  EXPECT_EQ(enforcer_of(site).sets.size(), 2U);
}

// A host with an address outside the link's own prefixes asks for its gateway from it.
TEST(Nftables, WhoeverIsBoundToALegMayAskForNeighboursThere) {
  const std::string text = Sketch()
                               .leg("wan", {"2001:db8::2/64"})
                               .leg("lan", {"fd00:1::1/64"})
                               .cls("external:world", "wan", {"2001:db8:ffff::/48"})
                               .cls("a", "lan", {"fd00:1::11"})
                               .nft();
  EXPECT_NE(text.find("ip6 saddr { ::, fe80::/10, 2001:db8::/64, 2001:db8:ffff::/48 } accept"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("ip6 saddr { ::, fe80::/10, fd00:1::/64 } accept"), std::string::npos)
      << text;
}

TEST(IntermediateForm, ADestinationIsBoundToItsLeg) {
  const auto site = two_legs()
                        .cls("a", "l0", {"10.0.0.2"})
                        .cls("c", "l1", {"10.1.0.2-10.1.0.9"})
                        .allow("F", "a", "c", {tcp(22)})
                        .site();
  const auto enforcer = enforcer_of(site);
  const auto& destinations = enforcer.sources.front().destinations;
  ASSERT_EQ(destinations.size(), 1U);
  EXPECT_EQ(destinations.front().range, range("10.1.0.2-10.1.0.9"));
  EXPECT_EQ(enforcer.legs[destinations.front().targets.front().leg].interface, "l1");
}

TEST(IntermediateForm, AnOpenSegmentOnOneLegNeedsNoRule) {
  const auto same = two_legs()
                        .cls("a", "l0", {"10.0.0.2"})
                        .cls("b", "l0", {"10.0.0.3"})
                        .inside_open("a", "b")
                        .site();
  EXPECT_TRUE(enforcer_of(same).sets.empty());
  const auto apart = two_legs()
                         .cls("a", "l0", {"10.0.0.2"})
                         .cls("b", "l1", {"10.1.0.3"})
                         .inside_open("a", "b")
                         .site();
  EXPECT_EQ(enforcer_of(apart).sets.size(), 1U);
}

TEST(IntermediateForm, AGroupOfTwoClassesOnOneLegIsOneTarget) {
  const auto site = two_legs()
                        .cls("a", "l0", {"10.0.0.2"})
                        .cls("b", "l1", {"10.1.0.3"})
                        .cls("c", "l1", {"10.1.0.4"})
                        .allow("F", "a", "b", {ip(112, "224.0.0.18")})
                        .allow("G", "a", "c", {ip(112, "224.0.0.18")})
                        .site();
  const auto enforcer = enforcer_of(site);
  ASSERT_EQ(enforcer.sources.front().destinations.size(), 1U);
  const auto& target = enforcer.sources.front().destinations.front().targets;
  ASSERT_EQ(target.size(), 1U);
  ASSERT_EQ(enforcer.sets[target.front().set].pieces.size(), 1U);
  EXPECT_EQ(enforcer.sets[target.front().set].pieces.front()->rules,
            (std::vector<std::string>{"F", "G"}));
}

TEST(IntermediateForm, ZonesOnlyWhereVrfsOverlap) {
  Sketch s;
  s.leg("l0", {"10.0.0.1/24"}, "red")
      .leg("l1", {"10.0.0.1/24"}, "blue")
      .leg("l2", {"10.2.0.1/24"}, "green");
  s.cls("a", "l0", {"10.0.0.2"}).cls("b", "l1", {"10.0.0.2"}).cls("c", "l2", {"10.2.0.2"});
  const auto site = s.site();
  const auto legs = enforcer_of(site).legs;
  EXPECT_NE(legs[0].zone, 0);
  EXPECT_NE(legs[1].zone, 0);
  EXPECT_NE(legs[0].zone, legs[1].zone);
  EXPECT_EQ(legs[2].zone, 0);
}

TEST(IntermediateForm, RoceOfBothWaysIsFullBothWays) {
  const auto site = two_legs()
                        .cls("a", "l0", {"10.0.0.2"})
                        .cls("b", "l1", {"10.1.0.3"})
                        .allow("F", "a", "b", {roce()})
                        .allow("G", "b", "a", {roce()})
                        .site();
  const auto enforcer = enforcer_of(site);
  for (const auto& target : enforcer.roce)
    EXPECT_NE(target.requests, nullptr);
}

TEST(NftablesText, CountsWhatCarriesARuleId) {
  const auto site = two_legs()
                        .cls("a", "l0", {"10.0.0.2"})
                        .cls("b", "l1", {"10.1.0.3"})
                        .allow("F", "a", "b", {tcp(1), tcp(3), udp(5)})
                        .site();
  EXPECT_EQ(compiler::nftables(enforcer_of(site)).elements, 3U);
}

}  // namespace
}  // namespace bulkhead::test
