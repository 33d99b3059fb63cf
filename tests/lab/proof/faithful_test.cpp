// Rules that nft 1.0.6 lists as others than they are, and those beside them that it lists well.
#include <gtest/gtest.h>

#include <string>

#include "compiler/proof/rule_loads.h"
#include "compiler/proof/ruleset_json.h"
#include "enforcement/backends/nft_sandbox.h"
#include "kernel.h"

namespace bulkhead::test {

namespace {

using namespace compiler::proof;

struct Case {
  const char* family;
  const char* rule;
  bool is_faithful;
};

const Case kCases[] = {
    {"ip6", "ip6 nexthdr tcp tcp dport 22 accept", false},
    {"ip6", "tcp dport 22 accept", true},
    {"ip6", "meta l4proto tcp tcp dport 22 accept", true},
    {"ip", "ip protocol tcp tcp dport 22 accept", true},
    {"ip", "meta protocol ip6 ip saddr 10.0.0.1 accept", false},
    {"inet", "meta l4proto icmp icmp type echo-request accept", false},
    {"inet", "icmp type echo-request accept", true},
    {"inet", "iiftype ether ip saddr 10.0.0.1 accept", false},
    {"inet", "ether type ip ip saddr 10.0.0.1 accept", false},
    {"inet", "ether saddr 02:00:00:00:00:01 ip saddr 10.0.0.1 accept", true},
    {"inet", "ct l3proto ipv4 reject", false},
    {"inet", "ip saddr 10.0.0.1 tcp sport 5 tcp dport 22 limit rate 5/second accept", true},
    {"inet", "ip6 nexthdr tcp tcp dport 22 accept", true},
    {"inet", "th dport . meta l4proto { 22 . tcp, 53 . udp } accept", true},
    {"inet", "udp dport 4791 @th,64,8 0x64 @th,104,24 { 1, 5-10 } accept", true},
    {"inet", "ip saddr 10.0.0.0/8 ip daddr != 10.0.0.1-10.0.0.9 ct state new accept", true},
    {"inet", "meta mark set ip saddr map { 10.0.0.1 : 5 } iif lo ip dscp 10 accept", true},
    {"inet", "tcp flags & (syn|ack) == syn ip6 saddr fe80::/10 reject with icmpv6 no-route", true},
    {"inet", "ip dscp set cs1", false},  // loads the bytes that it writes back; decides nothing
    {"inet", "vlan id 5 ip saddr 10.0.0.1 accept", true},
    {"inet", "tcp sport != 5 tcp dport != 80 drop", false},  // either is enough, when loaded
    {"inet", "tcp sport 5 tcp dport != 80 drop", true},
    {"inet", "ip saddr != 10.0.0.1 ip daddr != 10.0.0.2 drop", true},
    {"bridge", "ether saddr != 02:00:00:00:00:0b ether type != ip6 drop", false},
    {"bridge", "ip saddr 10.0.0.1 tcp dport 22 accept", true},
    {"bridge", "ether type ip ip saddr 10.0.0.1 accept", false},
};

TEST(Faithful, TheKernelTellsWhatTheListingLeavesOut) {
  if (const std::string missing = Kernel::missing(); !missing.empty())
    GTEST_SKIP() << missing;
  for (const Case& c : kCases) {
    const std::string text =
        std::string("table ") + c.family + " t {\n chain f {\n  " + c.rule + "\n }\n}\n";
    const auto listing = enforcement::list_in_sandbox(text, {});
    ASSERT_TRUE(listing) << c.rule << ": " << listing.error().message;
    auto ruleset = parse_ruleset(listing->json);
    ASSERT_TRUE(ruleset) << c.rule << ": " << ruleset.error().message;
    const std::size_t marked = mark_unfaithful(*ruleset, listing->loads);
    const auto& first = ruleset->chains.at(0).rules.at(0).statements.at(0);
    const auto* unmodelled = std::get_if<Unmodelled>(&first);
    EXPECT_EQ(marked, c.is_faithful ? 0U : 1U)
        << c.family << ": " << c.rule << ": " << (unmodelled != nullptr ? unmodelled->reason : "")
        << "\n"
        << listing->loads;
  }
}

}  // namespace

}  // namespace bulkhead::test
