// Packets that the kernel never shows to a rule: a proof does not call them open. One packet each,
// sent through a kernel, and all packets of its family in the model.
#include <gtest/gtest.h>

#include "compiler/proof/packet_bytes.h"
#include "compiler/proof/possible.h"
#include "compiler/proof/ruleset_json.h"
#include "compiler/proof/symbolic.h"
#include "kernel.h"

namespace bulkhead::test {

namespace {

using namespace compiler::proof;

struct Shown {
  const char* name;
  std::string forward;  // rules of a forward chain with policy drop
  std::string before;   // rules of a prerouting chain at priority -150
  bool v6;              // with a fragment header, though nothing was cut (RFC 6946)
  bool passes;
};

const Shown kShown[] = {
    {"any", "meta l4proto tcp accept", "", false, true},
    {"owner", "meta skuid 0 accept\n meta skuid != 0 accept", "", false, false},
    {"group of the owner", "meta skgid >= 0 accept", "", false, false},
    {"fragment header of IPv4", "exthdr frag exists accept", "", false, false},
    {"no fragment header of IPv4", "exthdr frag missing accept", "", false, false},
    {"fragment header", "exthdr frag exists accept", "", true, true},
    {"fragment header, tracked", "ct state invalid drop\n exthdr frag exists accept", "", true,
     false},
    {"next header, tracked", "ct state invalid drop\n ip6 nexthdr 44 accept", "", true, false},
    {"connection mark", "ct mark 5 accept", "", false, false},
    {"connection mark, set before", "ct mark 5 accept", "ct mark set 5", false, true},
    {"zone", "ct zone 3 accept", "", false, false},
    {"no zone", "ct zone 0 accept", "", false, true},
    {"mark", "meta mark 5 accept", "", false, false},
    {"mark, set before", "meta mark 5 accept", "meta mark set 5", false, true},
};

std::string text_of(const Shown& one) {
  return "table inet t {\n chain p {\n type filter hook prerouting priority -150;\n " + one.before +
         "\n}\nchain f {\n type filter hook forward priority 0; policy drop;\n " + one.forward +
         "\n}\n}\n";
}

bool is_open(const Ruleset& ruleset, bool v6) {
  Diagrams space;
  Endings endings;
  Symbolic rules(space, endings, ruleset);
  const Diagram does = rules.way(stations(Passage::Forward));
  const Diagram passes =
      space.where(does, [&](Terminal t) { return outcome_of(endings.at(t)) == Outcome::Accept; });
  const Possible here = possible_for(space, ruleset, Passage::Forward, does);
  const Diagram of_family = space.equal(Field::Family, v6 ? kIpv6 : kIpv4);
  return space.intersect(space.intersect(passes, here.packets), of_family) != space.nothing();
}

TEST(Impossible, WhatNoPacketHasOpensNothing) {
  if (const std::string missing = Kernel::missing(); !missing.empty())
    GTEST_SKIP() << missing;
  Kernel kernel;
  std::uint16_t port = 30000;
  for (const Shown& one : kShown) {
    SCOPED_TRACE(one.name);
    const Status loaded = kernel.load(text_of(one));
    ASSERT_TRUE(loaded) << loaded.error().message;
    const auto listing = kernel.list();
    ASSERT_TRUE(listing);
    const auto ruleset = parse_ruleset(*listing);
    ASSERT_TRUE(ruleset) << ruleset.error().message;

    PacketFacts facts;
    facts.from = *Address::parse(one.v6 ? "fd01::10" : "10.1.0.10");
    facts.to = *Address::parse(one.v6 ? "fd02::10" : "10.2.0.10");
    facts.protocol = 6;
    facts.sport = ++port;
    facts.dport = 80;
    facts.tcp_flags = 2;
    if (one.v6)
      facts.fragment = Fragment{0, false};
    const std::string token = "token of a packet";
    facts.payload.assign(token.begin(), token.end());
    EXPECT_EQ(kernel.inject(Side::Left, bytes_of(facts), token).right, one.passes);
    EXPECT_EQ(is_open(*ruleset, one.v6), one.passes);
  }
}

}  // namespace

}  // namespace bulkhead::test
