// policy/support: the values everything else stands on.
#include <gtest/gtest.h>

#include "policy/support/address.h"
#include "policy/support/diagnostic.h"
#include "policy/support/hostlist.h"
#include "policy/support/interval_set.h"
#include "policy/support/sha256.h"

namespace bulkhead {
namespace {

TEST(IntervalSet, MergesNeighboursAndOverlaps) {
  const PortSet ports{{20, 22}, {23, 25}, {24, 30}, {40, 40}};
  EXPECT_EQ(ports, (PortSet{{20, 30}, {40, 40}}));
}

TEST(IntervalSet, EndsOfTheRangeDoNotWrap) {
  const PortSet all{{0, 65535}};
  EXPECT_EQ((all - PortSet{{0, 0}}), (PortSet{{1, 65535}}));
  EXPECT_EQ((all - PortSet{{65535, 65535}}), (PortSet{{0, 65534}}));
  EXPECT_TRUE((all - all).empty());
  EXPECT_EQ((PortSet{{0, 0}} | PortSet{{65535, 65535}}).size(), 2U);
}

TEST(IntervalSet, DifferenceCutsHoles) {
  EXPECT_EQ((PortSet{{1, 100}} - PortSet{{10, 20}, {50, 60}}),
            (PortSet{{1, 9}, {21, 49}, {61, 100}}));
}

TEST(IntervalSet, ContainsAndIntersects) {
  const PortSet ports{{10, 20}, {30, 40}};
  EXPECT_TRUE(ports.contains(std::uint16_t{20}));
  EXPECT_FALSE(ports.contains(std::uint16_t{21}));
  EXPECT_EQ((ports & PortSet{{15, 35}}), (PortSet{{15, 20}, {30, 35}}));
}

TEST(AddressTest, ParsesAndPrintsBothFamilies) {
  for (const auto* text : {"10.1.0.1", "255.255.255.255", "fd00:1::1", "::", "fe80::1"}) {
    const auto address = Address::parse(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(address->str(), text);
  }
  for (const auto* text : {"", "10.1.0", "10.1.0.256", "fd00::1::2", "10.1.0.1 ", "a"}) {
    EXPECT_FALSE(Address::parse(text)) << text;
  }
}

TEST(AddressTest, StepsCarryOver) {
  EXPECT_EQ(succ(*Address::parse("10.0.255.255")).str(), "10.1.0.0");
  EXPECT_EQ(pred(*Address::parse("fd00::1:0")).str(), "fd00::ffff");
}

TEST(AddressTest, FamiliesNeverJoinInASet) {
  const AddressSet both{whole(Family::V4), whole(Family::V6)};
  EXPECT_EQ(both.size(), 2U);
  EXPECT_EQ(of_family(both, Family::V6), AddressSet{whole(Family::V6)});
}

// nft widens 10.1.2.3/8 to 10.0.0.0/8 without a word: 16.7 million addresses for one typing error.
TEST(Handed, A28_HostBitsAreRefusedWithWhatWasProbablyMeant) {
  Prefix::Flaw flaw{};
  Prefix meant;
  EXPECT_FALSE(Prefix::parse("10.1.2.3/8", &flaw, &meant));
  EXPECT_EQ(flaw, Prefix::Flaw::HostBits);
  EXPECT_EQ(meant.str(), "10.0.0.0/8");
}

TEST(PrefixTest, RefusesBadLengths) {
  for (const auto* text : {"10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0.0/08", "fd00::/129",
                           "10.0.0.0/8/8", "/8"}) {
    EXPECT_FALSE(Prefix::parse(text)) << text;
  }
  EXPECT_EQ(Prefix::parse("10.20.0.0/24")->last().str(), "10.20.0.255");
  EXPECT_EQ(Prefix::parse("10.20.0.7")->length, 32);
}

TEST(Hostlist, ExpandsWithWidthAndInIpv6) {
  EXPECT_EQ(*expand_hostlist("r1g[01-03]"), (std::vector<std::string>{"r1g01", "r1g02", "r1g03"}));
  EXPECT_EQ(*expand_hostlist("fd00:1::[9-11]"),
            (std::vector<std::string>{"fd00:1::9", "fd00:1::10", "fd00:1::11"}));
  EXPECT_EQ(*expand_hostlist("r[1-2]g[1,3]"),
            (std::vector<std::string>{"r1g1", "r1g3", "r2g1", "r2g3"}));
  EXPECT_EQ(*expand_hostlist("plain"), (std::vector<std::string>{"plain"}));
}

TEST(Hostlist, RefusesNonsense) {
  for (const auto* text : {"r[", "r]", "r[]", "r[3-1]", "r[a-b]", "r[1-", "r[1-99999999]",
                           "r[1-1000][1-1000]", "r[-1]"}) {
    EXPECT_FALSE(expand_hostlist(text)) << text;
  }
}

TEST(Hostlist, FoldsForPeople) {
  EXPECT_EQ(fold_hostlist({"r1g01", "r1g02", "r1g03", "x", "r1g09"}), "r1g[01-03],x,r1g09");
}

TEST(SourceMapTest, FindsLinesOfALargeFileWithoutReadingIt) {
  constexpr std::uint32_t kLines = 100'000;
  std::string text;
  for (std::uint32_t line = 1; line <= kLines; ++line)
    text += "line " + std::to_string(line) + (line % 2 == 0 ? "\r\n" : "\n");
  SourceMap sources;
  const auto file = sources.add("large.toml", text);
  const std::clock_t begin = std::clock();
  for (std::uint32_t line = 1; line <= kLines; ++line)
    ASSERT_EQ(sources.line({file, line, 1}), "line " + std::to_string(line));
  // Each from the start of the file, these are half a minute.
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 5);
  EXPECT_EQ(sources.line({file, kLines + 1, 1}), "") << "after the last end of line";
  EXPECT_EQ(sources.line({file, kLines + 2, 1}), "");
  EXPECT_EQ(sources.line({file, 0, 0}), "");
}

TEST(DiagnosticTest, ShowsPlaceLineCaretAndHint) {
  SourceMap sources;
  const auto file = sources.add("policy.toml", "a = 1\nfrom = \"acme-fee\"\r\n");
  Diagnostics diagnostics;
  diagnostics.error("unknown-name", {file, 2, 8}, "no segment `acme-fee`",
                    did_you_mean("acme-fee", {"stor", "acme-fe"}));
  EXPECT_EQ(render(diagnostics, sources, false),
            "policy.toml:2:8: error: no segment `acme-fee` [unknown-name]\n"
            "    2 | from = \"acme-fee\"\n"
            "      |        ^\n"
            "      = hint: did you mean `acme-fe`?\n");
}

TEST(DiagnosticTest, CutsLongLinesAndHidesControlCharacters) {
  SourceMap sources;
  const auto file = sources.add("p", std::string(10'000'000, 'x') + "\x1b[31m");
  Diagnostics diagnostics;
  diagnostics.error("c", {file, 1, 10'000'001}, "m");
  const std::string text = render(diagnostics, sources, false);
  EXPECT_LT(text.size(), 400U);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(DidYouMean, KeepsSilentWhenNothingIsClose) {
  EXPECT_EQ(closest("storage", {"acme", "bmc"}), "");
  EXPECT_EQ(closest("ssg", {"ssh", "nfs"}), "ssh");
}

TEST(DidYouMean, SwappedLettersAreOneSlip) {
  EXPECT_EQ(closest("tpc", {"sctp", "tcp", "udp"}), "tcp");
  EXPECT_EQ(closest("vlna", {"vrf", "vlan"}), "vlan");
  EXPECT_EQ(closest("alhpa", {"beta", "alpha"}), "alpha");
  EXPECT_EQ(closest("jmup", {"jump"}), "jump");
}

TEST(DidYouMean, AShortFormOfANameIsMeant) {
  EXPECT_EQ(closest("internet", {"world", "inet"}), "inet");
  EXPECT_EQ(closest("mgmt", {"compute", "management"}), "management");
  EXPECT_EQ(closest("red", {"blue", "storage"}), "");
}

TEST(Sha256, KnownAnswer) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace bulkhead
