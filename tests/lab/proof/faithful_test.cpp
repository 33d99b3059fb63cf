// Rules that nft 1.0.6 lists as others than they are, and those beside them that it lists well.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "compiler/proof/rule_loads.h"
#include "compiler/proof/ruleset_json.h"
#include "enforcement/backends/nft_sandbox.h"
#include "kernel.h"

namespace bulkhead::test {

namespace {

using namespace compiler::proof;

enum class Listed : std::uint8_t { AsItIs, Otherwise, Joined };
struct Case {
  const char* family;
  const char* rule;
  Listed listed;
};
constexpr Listed kAsItIs = Listed::AsItIs, kOtherwise = Listed::Otherwise, kJoined = Listed::Joined;

const Case kCases[] = {
    {"ip6", "ip6 nexthdr tcp tcp dport 22 accept", kOtherwise},
    {"ip6", "tcp dport 22 accept", kAsItIs},
    {"ip6", "meta l4proto tcp tcp dport 22 accept", kAsItIs},
    {"ip", "ip protocol tcp tcp dport 22 accept", kAsItIs},
    {"ip", "meta protocol ip6 ip saddr 10.0.0.1 accept", kOtherwise},
    {"inet", "meta l4proto icmp icmp type echo-request accept", kOtherwise},
    {"inet", "icmp type echo-request accept", kAsItIs},
    {"inet", "iiftype ether ip saddr 10.0.0.1 accept", kOtherwise},
    {"inet", "ether type ip ip saddr 10.0.0.1 accept", kOtherwise},
    {"inet", "ether saddr 02:00:00:00:00:01 ip saddr 10.0.0.1 accept", kAsItIs},
    {"inet", "ct l3proto ipv4 reject", kOtherwise},
    {"inet", "ip saddr 10.0.0.1 tcp sport 5 tcp dport 22 limit rate 5/second accept", kAsItIs},
    {"inet", "ip6 nexthdr tcp tcp dport 22 accept", kAsItIs},
    {"inet", "th dport . meta l4proto { 22 . tcp, 53 . udp } accept", kAsItIs},
    {"inet", "udp dport 4791 @th,64,8 0x64 @th,104,24 { 1, 5-10 } accept", kAsItIs},
    {"inet", "ip saddr 10.0.0.0/8 ip daddr != 10.0.0.1-10.0.0.9 ct state new accept", kAsItIs},
    {"inet", "meta mark set ip saddr map { 10.0.0.1 : 5 } iif lo ip dscp 10 accept", kAsItIs},
    {"inet", "tcp flags & (syn|ack) == syn ip6 saddr fe80::/10 reject with icmpv6 no-route",
     kAsItIs},
    {"inet", "ip dscp set cs1",
     kOtherwise},  // loads the bytes that it writes back; decides nothing
    {"inet", "vlan id 5 ip saddr 10.0.0.1 accept", kAsItIs},
    {"inet", "tcp sport != 5 tcp dport != 80 drop", kJoined},  // either is enough, when loaded
    {"inet", "tcp dport != 80 ct state new tcp sport != 5 drop", kJoined},
    {"inet", "tcp sport != 5 tcp dport != 80 tcp sport != 6 tcp dport != 81 drop", kOtherwise},
    {"inet", "tcp sport != 5 tcp dport != 80 tcp sport != 6 drop", kOtherwise},
    {"inet", "tcp sport 5 tcp dport != 80 drop", kAsItIs},
    {"inet", "ip saddr != 10.0.0.1 ip daddr != 10.0.0.2 drop", kAsItIs},
    {"bridge", "ether saddr != 02:00:00:00:00:0b ether type != ip6 drop", kJoined},
    {"bridge", "ether type vlan ether type vmap { ip : accept }", kOtherwise},
    {"bridge", "ether type vmap { ip : accept }", kAsItIs},
    {"inet", "tcp dport 5-90 tcp dport != 7 ip dscp 10 ip ecn 1 accept", kAsItIs},
    {"inet", "meta l4proto tcp meta l4proto vmap { tcp : accept }", kAsItIs},
    {"inet", "meta mark 1 meta mark set meta mark or 2 accept", kAsItIs},
    {"inet", "add @s { ip saddr } ip saddr 10.0.0.1 accept", kAsItIs},
    {"bridge", "ip saddr 10.0.0.1 tcp dport 22 accept", kAsItIs},
    {"bridge", "ether type ip ip saddr 10.0.0.1 accept", kOtherwise},
};

TEST(Faithful, TheKernelTellsWhatTheListingLeavesOut) {
  if (const std::string missing = Kernel::missing(); !missing.empty())
    GTEST_SKIP() << missing;
  for (const Case& c : kCases) {
    const std::string text =
        std::string("table ") + c.family +
        " t {\n set s {\n  type ipv4_addr; flags dynamic; size 9;\n }\n chain f {\n  " + c.rule +
        "\n }\n}\n";
    const auto listing = enforcement::list_in_sandbox(text, {});
    ASSERT_TRUE(listing) << c.rule << ": " << listing.error().message;
    auto ruleset = parse_ruleset(listing->json);
    ASSERT_TRUE(ruleset) << c.rule << ": " << ruleset.error().message;
    const std::size_t marked = mark_unfaithful(*ruleset, listing->loads);
    const Rule& rule = ruleset->chains.at(0).rules.at(0);
    const auto* unmodelled = std::get_if<Unmodelled>(&rule.statements.at(0));
    EXPECT_EQ(rule.joined, c.listed == kJoined) << c.family << ": " << c.rule;
    EXPECT_EQ(marked, c.listed == kOtherwise ? 1U : 0U)
        << c.family << ": " << c.rule << ": " << (unmodelled != nullptr ? unmodelled->reason : "")
        << "\n"
        << listing->loads;
  }
}

// Plain integers of the kernel's byte order in a concatenation without a name are listed as 0.
TEST(Faithful, NumbersThatNftListsWronglyAreNotBelieved) {
  if (const std::string missing = Kernel::missing(); !missing.empty())
    GTEST_SKIP() << missing;
  const auto is_unknown = [](const std::string& rule) {
    const auto listing = enforcement::list_in_sandbox(
        "table inet t {\n set s {\n  typeof meta length . tcp dport; flags interval;\n  elements = "
        "{ 40-1500 . 22 }\n }\n chain f {\n  " +
            rule + "\n }\n}\n",
        {});
    if (!listing)
      throw std::runtime_error(rule + ": " + listing.error().message);
    const auto ruleset = parse_ruleset(listing->json);
    const auto& statements = ruleset.value().chains.at(0).rules.at(0).statements;
    return std::any_of(statements.begin(), statements.end(), [](const Statement& statement) {
      return std::holds_alternative<Unmodelled>(statement);
    });
  };
  for (const char* field : {"meta length", "meta cpu", "ct zone", "ct packets", "ct bytes"}) {
    const std::string name = field;
    EXPECT_TRUE(is_unknown(name + " . tcp dport { 1-9 . 22 } accept")) << name;
    EXPECT_TRUE(is_unknown("tcp dport . " + name + " { 22 . 5, 23-25 . 5 } accept")) << name;
    EXPECT_TRUE(is_unknown("tcp dport . " + name + " vmap { 22-23 . 5 : accept }")) << name;
  }
  EXPECT_FALSE(is_unknown("meta length . tcp dport @s accept"));
  EXPECT_FALSE(is_unknown("meta length 40-1500 accept"));
  EXPECT_FALSE(is_unknown("meta mark . tcp dport { 1-9 . 22 } accept"));
  EXPECT_FALSE(is_unknown("ip length . tcp dport { 1-9 . 22 } accept"));
}

}  // namespace

}  // namespace bulkhead::test
