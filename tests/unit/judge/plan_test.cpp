#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <map>
#include <set>
#include <tuple>

#include "compiler/compile.h"
#include "compiler/probe_book.h"
#include "compiler/probe_bridges.h"
#include "compiler/probe_forgeries.h"
#include "tests/unit/judge/small_site.h"

namespace bulkhead::compiler {
namespace {

using policy::Action;
using policy::Cell;
using policy::ClassId;
using policy::ClassKind;
using policy::Kind;

// transport, family, source port, port, payload, size, expectation
using Sent =
    std::tuple<Transport, Family, std::uint16_t, std::uint16_t, Payload, std::uint16_t, Expect>;
using Ports = std::bitset<65537>;

ClassId id_of(const Site& site, std::string_view name) {
  const policy::Class* cls = site.matrix.universe.find(name);
  EXPECT_NE(cls, nullptr) << name;
  return static_cast<ClassId>(cls - site.matrix.universe.classes.data());
}

// Port by port, with none of the compiler's interval arithmetic.
void enumerate_ports(const Site& site, const Cell* cell, Family family, Transport transport,
                     bool deny_counts, std::multiset<Sent>& out) {
  const Kind kind = transport == Transport::Tcp ? Kind::Tcp : Kind::Udp;
  Ports allowed, allow_probed, deny_probed;
  for (const auto& piece : cell ? cell->pieces : std::vector<policy::Piece>{}) {
    if (piece.key.kind != kind)
      continue;
    for (unsigned port = piece.ports.first; port <= piece.ports.last; ++port)
      allowed[port] = allowed[port] || piece.action == Action::Allow;
    auto& probed = piece.action == Action::Allow ? allow_probed : deny_probed;
    probed.set(piece.ports.first).set(piece.ports.last);
    if (piece.action == Action::Allow)
      probed.set((piece.ports.first + piece.ports.last) / 2);
  }
  for (const auto& service : site.matrix.services)
    for (const auto& term : service.terms)
      for (const auto& range : term.ports)
        if (term.key.kind == kind)
          deny_probed.set(range.first).set(range.last);
  Ports canary;
  for (const std::uint16_t port : kCanaryPorts) {
    deny_probed.set(port);
    canary.set(port);
  }
  const std::vector<std::uint16_t> trusted =
      transport == Transport::Tcp ? std::vector<std::uint16_t>{20, 53, 80, 443}
                                  : std::vector<std::uint16_t>{53, 67, 123, 500, 4791};
  bool from_trusted = false;
  for (unsigned port = 1; port <= 65535; ++port) {
    const bool edge = allowed[port - 1] || allowed[port + 1];
    const auto number = static_cast<std::uint16_t>(port);
    if (transport == Transport::Udp && port == 4791)
      continue;
    const std::uint16_t small = transport == Transport::Udp ? kSmallPayload : std::uint16_t{0};
    if (allowed[port] && allow_probed[port]) {
      out.insert({transport, family, 0, number, Payload::Token, small, Expect::Allow});
      if (transport == Transport::Udp)
        out.insert({transport, family, 0, number, Payload::Token, kLargePayload, Expect::Allow});
    }
    if (allowed[port] || !(deny_probed[port] || edge) || !deny_counts)
      continue;
    out.insert({transport, family, 0, number, Payload::Token, small, Expect::Deny});
    if (canary[port] && transport == Transport::Udp)
      out.insert({transport, family, 0, number, Payload::Token, kLargePayload, Expect::Deny});
    if (canary[port] && !from_trusted) {
      from_trusted = true;
      for (const std::uint16_t sport : trusted)
        out.insert({transport, family, sport, number, Payload::Token, small, Expect::Deny});
    }
  }
}

bool says(const Cell* cell, Kind kind, Action action) {
  if (cell)
    for (const auto& piece : cell->pieces)
      if (piece.key.kind == kind && piece.action == action)
        return true;
  return false;
}

std::multiset<Sent> enumerate_cell(const Site& site, ClassId from, ClassId to, Family family) {
  std::multiset<Sent> out;
  const Cell* cell = site.matrix.find(from, to);
  const Cell* back = site.matrix.find(to, from);
  if (cell && cell->everything) {
    out.insert({Transport::Tcp, family, 0, kCanaryPorts[0], Payload::Token, 0, Expect::Allow});
    out.insert({Transport::Icmp, family, 0, 0, Payload::Token, 0, Expect::Allow});
    return out;
  }
  const Cause cause = site.coverage.at(from, to).cause;
  const bool deny_counts = cause != Cause::None && cause != Cause::Partition;
  enumerate_ports(site, cell, family, Transport::Tcp, deny_counts, out);
  enumerate_ports(site, cell, family, Transport::Udp, deny_counts, out);
  const auto add = [&](Transport transport, std::uint16_t port, Payload payload, bool allow) {
    const std::uint16_t size = transport == Transport::Udp ? kSmallPayload : std::uint16_t{0};
    if (allow || deny_counts)
      out.insert({transport, family, 0, port, payload, size, allow ? Expect::Allow : Expect::Deny});
  };
  add(Transport::Icmp, 0, Payload::Token, says(cell, Kind::Icmp, Action::Allow));
  // Every cell is asked, whether or not the site names RoCE.
  const bool requests = says(cell, Kind::Roce, Action::Allow);
  add(Transport::Udp, 4791, Payload::RoceRequest, requests);
  if (!requests)
    add(Transport::Udp, 4791, Payload::RoceAcknowledge, says(back, Kind::Roce, Action::Allow));
  return out;
}

// From ports that filters trust, to the lowest port of a service of which the cell says nothing.
void enumerate_trusted_to_a_service(const Site& site, const Cell* cell, Family family,
                                    Transport transport, std::multiset<Sent>& out) {
  const Kind kind = transport == Transport::Tcp ? Kind::Tcp : Kind::Udp;
  const auto names = [&](const policy::TrafficKey& key, unsigned port, const auto& range) {
    return key.kind == kind && range.first <= port && port <= range.last;
  };
  for (unsigned port = 1; port <= 65535; ++port) {
    bool ends_here = false, said = false;
    for (const auto& service : site.matrix.services)
      for (const auto& term : service.terms)
        for (const auto& range : term.ports)
          ends_here =
              ends_here || (term.key.kind == kind && (range.first == port || range.last == port));
    for (const auto& piece : cell ? cell->pieces : std::vector<policy::Piece>{})
      said = said || names(piece.key, port, piece.ports);
    if (!ends_here || said)
      continue;
    const auto number = static_cast<std::uint16_t>(port);
    if (transport == Transport::Tcp) {
      for (const std::uint16_t sport : {20, 53, 80, 443})
        out.insert({transport, family, sport, number, Payload::Token, 0, Expect::Deny});
    } else {
      for (const std::uint16_t sport : {53, 67, 123, 500, 4791})
        out.insert({transport, family, sport, number, Payload::Token, kSmallPayload, Expect::Deny});
    }
    return;
  }
}

// What no rule about ports or SYNs speaks of, where a rule decides: one pair of hosts a family. No
// service of this site names a protocol or a canary port.
std::multiset<Sent> enumerate_beside_ports(const Site& site, ClassId from, ClassId to,
                                           Family family) {
  std::multiset<Sent> out;
  if (site.coverage.at(from, to).cause != Cause::Rule)
    return out;
  out.insert({Transport::Tcp, family, 0, 7, Payload::LoneAck, 0, Expect::Deny});
  const Cell* cell = site.matrix.find(from, to);
  if (!says(cell, Kind::Icmp, Action::Allow))  // of an echo, in this site
    out.insert({Transport::Icmp, family, 0, 0, Payload::Token, kLargePayload, Expect::Deny});
  if (family == Family::V4)
    out.insert({Transport::Icmp, family, 0, 1, Payload::Token, 0, Expect::Deny});
  for (const Transport transport : {Transport::Tcp, Transport::Udp})
    enumerate_trusted_to_a_service(site, cell, family, transport, out);
  for (const std::uint16_t protocol : {47, 50, 132})
    out.insert({Transport::Raw, family, 0, protocol, Payload::Token, 0, Expect::Deny});
  return out;
}

// How many addresses a class is asked at, and whether it can send: by hand, for this site.
struct Shape {
  int v4 = 0, v6 = 0;
  bool sends = true;
  int hosts = 2;
};
Shape shape_of(const std::string& name) {
  if (name == "red-fe" || name == "blue-fe")
    return {1, 1, true, 2};
  if (name == "bmc")
    return {1, 0, false, 2};
  if (name == "external:world")
    return {1, 0, true, 1};
  if (name == "enforcer:fw")
    return {4, 2, true, 1};
  return {0, 0, false, 0};
}

TEST(ProbePlan, TheSmallSiteIsSound) {
  for (const auto& diagnostic : small_site().diagnostics.all()) {
    if (diagnostic.severity == Severity::Error)
      ADD_FAILURE() << diagnostic.code << ": " << diagnostic.message;
  }
}

TEST(ProbePlan, EqualsAnEnumerationPortByPort) {
  const Site& site = small_site();
  const ProbePlan plan = plan_probes(site, {});
  const auto& classes = site.matrix.universe.classes;
  std::map<std::pair<ClassId, ClassId>, std::multiset<Sent>> planned;
  std::size_t forged = 0;
  for (const Probe& p : plan.probes) {
    if (p.rule == kRuleSpoofed || p.rule == kRuleBridged) {
      ++forged;
      continue;
    }
    planned[{p.from.cls, p.to.cls}].insert(
        {p.transport, p.to.address.family, p.sport, p.port, p.payload, p.size, p.expect});
  }
  std::size_t expected_total = 0;
  for (ClassId from = 0; from < classes.size(); ++from) {
    for (ClassId to = 0; to < classes.size(); ++to) {
      const Shape source = shape_of(classes[from].name), target = shape_of(classes[to].name);
      std::multiset<Sent> expected;
      if (source.sends && !(from == to && source.hosts == 1)) {
        for (const Family family : kFamilies) {
          const int senders = family == Family::V4 ? source.v4 : source.v6;
          const int addresses = family == Family::V4 ? target.v4 : target.v6;
          if (senders == 0)
            continue;
          for (int i = 0; i < addresses; ++i)
            expected.merge(enumerate_cell(site, from, to, family));
          if (addresses > 0)
            expected.merge(enumerate_beside_ports(site, from, to, family));
        }
      }
      expected_total += expected.size();
      EXPECT_EQ((planned[{from, to}]), expected)
          << classes[from].name << " -> " << classes[to].name;
    }
  }
  EXPECT_EQ(plan.probes.size(), expected_total + forged);
  EXPECT_GT(expected_total, 300u);
}

// RoCE's port is asked even where no service names it, and where it is all that a site wants asked.
TEST(ProbePlan, Port4791IsAlwaysAsked) {
  std::string policy(kSmallPolicy);
  const Site site =
      site_of(policy, std::string(kSmallInventory) + "[probe]\ncanary_ports = [4791]\n");
  ASSERT_TRUE(site.ok());
  const ClassId red = id_of(site, "red-fe"), blue = id_of(site, "blue-fe");
  std::set<std::pair<Family, Payload>> asked;
  for (const Probe& p : plan_probes(site, {}).probes) {
    if (p.from.cls == red && p.to.cls == blue && p.transport == Transport::Udp && p.port == 4791)
      asked.emplace(p.from.address.family, p.payload);
  }
  EXPECT_EQ(asked.size(), 4U);
}

// Counted by hand. IPv4: red and blue each claim the three other legs' classes towards the three
// others and the firewall, but not the outside's only host towards itself; the outside claims three
// towards four. IPv6: red and blue claim each other, towards each other and the firewall.
TEST(ProbePlan, EachClassClaimsTheAddressesOfTheOthers) {
  const Site& site = small_site();
  std::map<Family, std::size_t> count;
  for (const Probe& p : plan_probes(site, {}).probes) {
    if (p.rule != kRuleSpoofed)
      continue;
    ++count[p.from.address.family];
    EXPECT_FALSE(site.matrix.universe.classes[p.from.cls].addresses.contains(p.from.address));
    EXPECT_EQ(p.expect, Expect::Deny);
    EXPECT_EQ(p.cause, Cause::Rule);
    EXPECT_EQ(p.detour.host, "fw");
    EXPECT_EQ(p.detour.nic, site.matrix.universe.classes[p.from.cls].name == "red-fe"    ? "red"
                            : site.matrix.universe.classes[p.from.cls].name == "blue-fe" ? "blue"
                                                                                         : "wan");
  }
  EXPECT_EQ(count[Family::V4], 11U + 11U + 12U);
  EXPECT_EQ(count[Family::V6], 4U);
}

TEST(ProbePlan, IsSortedNumberedAndNeverPairsAHostWithItself) {
  const ProbePlan plan = plan_probes(small_site(), {});
  for (std::size_t i = 0; i < plan.probes.size(); ++i) {
    const Probe& p = plan.probes[i];
    EXPECT_NE(p.from.host, p.to.host);
    EXPECT_FALSE(p.from.agentless);
    EXPECT_EQ(p.from.address.family, p.to.address.family);
    if (i > 0) {
      const Probe& before = plan.probes[i - 1];
      EXPECT_LT(before.id, p.id);
      EXPECT_LE(std::tuple(before.from.cls, before.to.cls, before.transport),
                std::tuple(p.from.cls, p.to.cls, p.transport));
    }
  }
}

TEST(ProbePlan, IsDeterministicAndTheSeedChoosesOtherHosts) {
  const Site& site = small_site();
  EXPECT_EQ(to_json(make_probe_book(site, {}), site), to_json(make_probe_book(site, {}), site));
  std::set<std::string> hosts;
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    PlanOptions options;
    options.seed = seed;
    for (const Probe& p : plan_probes(site, options).probes)
      hosts.insert(p.from.host);
  }
  EXPECT_THAT(hosts, testing::IsSupersetOf({"r1", "r2", "b1", "b2"}));
}

TEST(ProbePlan, ExplicitDenyAndDefaultCarryTheirRules) {
  const Site& site = small_site();
  const ClassId red = id_of(site, "red-fe"), blue = id_of(site, "blue-fe");
  std::map<std::uint16_t, std::string> rules;
  for (const Probe& p : plan_probes(site, {}).probes) {
    if (p.from.cls == red && p.to.cls == blue && p.transport == Transport::Tcp)
      rules[p.port] = p.rule + (p.expect == Expect::Allow ? " allow" : " deny");
  }
  EXPECT_EQ(rules[8005], "F2 deny");
  EXPECT_EQ(rules[8004], "F1 allow");
  EXPECT_EQ(rules[8006], "F1 allow");
  EXPECT_EQ(rules[7999], "default deny");
  EXPECT_EQ(rules[8011], "default deny");
  EXPECT_EQ(rules[22], "default deny");
}

TEST(ProbePlan, SaysWhatItCannotProbe) {
  const Site& site = small_site();
  const ProbePlan plan = plan_probes(site, {});
  const auto reason = [&](std::string_view from, std::string_view to, std::string_view what) {
    for (const Unprobed& u : plan.unprobed) {
      if (u.from == id_of(site, from) && u.to == id_of(site, to) && u.what == what)
        return u.reason + (u.vacuous ? " (vacuous)" : "");
    }
    return std::string("nothing");
  };
  EXPECT_THAT(reason("red-fe", "blue-fe", "sctp 5000"), testing::HasSubstr("TCP, UDP"));
  EXPECT_THAT(reason("bmc", "red-fe", ""), testing::HasSubstr("no agent runs in bmc"));
  EXPECT_THAT(reason("enforcer:fw", "enforcer:fw", ""), testing::HasSubstr("(vacuous)"));
}

// protocol, expectation, rule of one cell
using Protocols = std::multiset<std::tuple<std::uint16_t, Expect, std::string>>;
Protocols protocols_asked(const ProbePlan& plan, ClassId from, ClassId to, Family family) {
  Protocols out;
  for (const Probe& p : plan.probes)
    if (p.from.cls == from && p.to.cls == to && p.to.address.family == family &&
        p.transport == Transport::Raw)
      out.emplace(p.port, p.expect, p.rule);
  return out;
}

// An allowed protocol is asked as allowed, and no reply to it is taken for a leak; every other cell
// is asked for what any service names.
TEST(ProbePlan, AServiceOfABareProtocolIsAsked) {
  const Site site =
      site_of(std::string(kSmallPolicy) +
                  "[service.tunnel]\nip = [47, 51]\n[service.ospf]\nip = [89]\n"
                  "[[flow]]\nid = \"T1\"\nfrom = \"red-fe\"\nto = \"blue-fe\"\n"
                  "services = [\"tunnel\"]\nwhy = \"for the test\"\n"
                  "[[flow]]\nid = \"T2\"\nfrom = \"blue-fe\"\nto = \"red-fe\"\n"
                  "services = [\"ospf\", \"tunnel\"]\naction = \"deny\"\nwhy = \"for the test\"\n",
              std::string(kSmallInventory));
  ASSERT_TRUE(site.ok());
  const ProbePlan plan = plan_probes(site, {});
  const ClassId red = id_of(site, "red-fe"), blue = id_of(site, "blue-fe"),
                world = id_of(site, "external:world");
  const std::string by_default(policy::kRuleDefault);
  EXPECT_EQ(protocols_asked(plan, red, blue, Family::V4),
            (Protocols{{47, Expect::Allow, "T1"},
                       {51, Expect::Allow, "T1"},
                       {50, Expect::Deny, by_default},
                       {89, Expect::Deny, by_default},
                       {132, Expect::Deny, by_default}}));
  EXPECT_EQ(protocols_asked(plan, blue, red, Family::V4),
            (Protocols{{89, Expect::Deny, "T2"},
                       {50, Expect::Deny, by_default},
                       {132, Expect::Deny, by_default}}));
  EXPECT_EQ(protocols_asked(plan, world, red, Family::V4),
            (Protocols{{47, Expect::Deny, by_default},
                       {50, Expect::Deny, by_default},
                       {51, Expect::Deny, by_default},
                       {89, Expect::Deny, by_default},
                       {132, Expect::Deny, by_default}}));
  // AH is a header of IPv6's own chain.
  EXPECT_EQ(protocols_asked(plan, red, blue, Family::V6).count({51, Expect::Allow, "T1"}), 0U);
  const bool said = std::any_of(plan.unprobed.begin(), plan.unprobed.end(), [&](const Unprobed& u) {
    return u.from == red && u.to == blue && u.what == "ip 51";
  });
  EXPECT_TRUE(said);
}

// The fabric flow is RoCE where segments are named, whatever carries it elsewhere.
TEST(ProbePlan, GpuDirectBetweenSegmentsIsRoce) {
  const Site site = site_of(
      std::string(kSmallPolicy) +
          "[service.gpu]\nib = true\ngpudirect = true\n[[flow]]\nid = \"G1\"\nfrom = \"blue-fe\"\n"
          "to = \"red-fe\"\nservices = [\"gpu\"]\nwhy = \"for the test\"\n",
      std::string(kSmallInventory));
  ASSERT_TRUE(site.ok());
  const Artifacts artifacts = compile(site, {});
  EXPECT_THAT(artifacts.files.at(0).text,
              testing::HasSubstr("@th,64,8 { 0x00-0x3f, 0x60-0x7f, 0x81 } counter accept comment "
                                 "\"G1\""));
  const ClassId red = id_of(site, "red-fe"), blue = id_of(site, "blue-fe");
  std::size_t requests = 0;
  for (const Probe& p : probes_of(artifacts.probes).probes)
    requests += p.from.cls == blue && p.to.cls == red && p.payload == Payload::RoceRequest &&
                p.expect == Expect::Allow && p.rule == "G1";
  EXPECT_EQ(requests, 2U) << "one a family";
  const bool memory_is_unproven = std::any_of(
      artifacts.probes.unprobed.begin(), artifacts.probes.unprobed.end(), [&](const Unprobed& u) {
        return u.from == blue && u.to == red && u.what == "gpudirect" && !u.reason.empty();
      });
  EXPECT_TRUE(memory_is_unproven);
}

TEST(ProbePlan, StandInsSendForAgentlessHostsAndAreNamed) {
  const Site site = site_of(std::string(kSmallPolicy), std::string(kSmallInventory) +
                                                           "[host.stand]\n"
                                                           "stand_in = \"bmc1\"\n"
                                                           "nic.p = { segment = \"bmc\", v4 = "
                                                           "\"10.9.0.77\" }\n");
  ASSERT_TRUE(site.ok());
  bool sends = false;
  for (const Probe& p : plan_probes(site, {}).probes)
    sends = sends || (p.from.host == "stand" && p.from.stands_for == "bmc1");
  EXPECT_TRUE(sends);
}

TEST(ProbePlan, NeverProbesWhatItMustNot) {
  const Site site = site_of(std::string(kSmallPolicy),
                            std::string(kSmallInventory) +
                                "[probe]\nnever = [\"10.2.0.11\", \"10.9.0.11\", \"10.9.0.12\"]\n");
  ASSERT_TRUE(site.ok());
  const ProbePlan plan = plan_probes(site, {});
  for (const Probe& p : plan.probes) {
    for (const char* never : {"10.2.0.11", "10.9.0.11", "10.9.0.12"}) {
      EXPECT_NE(p.from.address.str(), never);
      EXPECT_NE(p.to.address.str(), never);
    }
  }
}

TEST(ProbePlan, TagsChooseAndWhatIsLeftOutIsSaid) {
  const Site& site = small_site();
  PlanOptions options;
  options.include = {"F1"};
  options.exclude = {"udp"};
  const ProbePlan plan = plan_probes(site, options);
  ASSERT_FALSE(plan.probes.empty());
  for (const Probe& p : plan.probes) {
    EXPECT_EQ(p.rule, "F1");
    EXPECT_NE(p.transport, Transport::Udp);
  }
  const auto left_out = std::count_if(plan.unprobed.begin(), plan.unprobed.end(), [](auto& u) {
    return u.reason.find("--include") != std::string::npos;
  });
  EXPECT_GT(left_out, 5);
}

constexpr std::string_view kBetween =
    "[host.two]\nforwards = false\n"
    "nic.a = { segment = \"red-fe\", v4 = \"10.1.0.77\", v6 = \"fd01::77\" }\n"
    "nic.b = { segment = \"blue-fe\", v4 = \"10.2.0.77\", v6 = \"fd02::77\" }\n";

// A host between two segments is probed as a path around the firewall, both ways, by others.
TEST(ProbePlan, AHostBetweenTwoSegmentsIsAskedToForward) {
  const Site site =
      site_of(std::string(kSmallPolicy), std::string(kSmallInventory) + std::string(kBetween));
  ASSERT_TRUE(site.ok());
  std::set<std::tuple<std::string, std::string, Family>> ways;
  for (const Probe& p : plan_probes(site, {}).probes) {
    if (p.detour.host.empty() || p.rule == kRuleSpoofed || p.rule == kRuleBridged)
      continue;
    EXPECT_EQ(p.detour.host, "two");
    EXPECT_NE(p.from.host, "two");
    EXPECT_NE(p.to.host, "two");
    EXPECT_EQ(p.expect, Expect::Deny);
    EXPECT_EQ(p.cause, Cause::Route);
    const std::string from = site.matrix.universe.classes[p.from.cls].place;
    EXPECT_EQ(p.detour.nic, from == "red-fe" ? "a" : "b");
    EXPECT_TRUE(
        ways.emplace(from, site.matrix.universe.classes[p.to.cls].place, p.from.address.family)
            .second);
  }
  EXPECT_EQ(ways.size(), 4U);
}

// Each ordered pair of segments with agents, in each family by a datagram and a SYN: red and blue,
// and not the BMCs, who have none.
TEST(ProbePlan, TwoSegmentsAreAskedWhetherTheyAreOneWire) {
  const Site site =
      site_of(std::string(kSmallPolicy), std::string(kSmallInventory) + std::string(kBetween));
  ASSERT_TRUE(site.ok());
  std::map<std::pair<std::string, std::string>, std::set<std::pair<Transport, Family>>> pairs;
  for (const Probe& p : plan_probes(site, {}).probes) {
    if (p.rule != kRuleBridged)
      continue;
    const auto place = [&](const ProbeEnd& end) {
      return site.matrix.universe.classes[end.cls].place;
    };
    auto& asked = pairs[{place(p.from), place(p.to)}];
    EXPECT_TRUE(asked.emplace(p.transport, p.from.address.family).second);
    EXPECT_EQ(p.expect, Expect::Deny);
    EXPECT_EQ(p.detour.host, p.to.host);
    EXPECT_EQ(p.detour.nic, p.to.nic);
    EXPECT_NE(p.from.host, "two") << "it stands in both";
    EXPECT_NE(p.to.host, "two") << "it stands in both";
  }
  const std::set<std::pair<Transport, Family>> all{{Transport::Udp, Family::V4},
                                                   {Transport::Tcp, Family::V4},
                                                   {Transport::Udp, Family::V6},
                                                   {Transport::Tcp, Family::V6}};
  EXPECT_EQ(pairs, (decltype(pairs){{{"red-fe", "blue-fe"}, all}, {{"blue-fe", "red-fe"}, all}}));
}

// A wire between the two carries link-local IPv6, which no probe is: that is missing evidence.
TEST(ProbePlan, TwoWiresWithoutACommonFamilyAreNotCovered) {
  const Site site = site_of(R"(
name = "families"
[tenant.red]
[tenant.blue]
[segment.red]
tenant = "red"
v4 = "10.1.0.0/24"
gateway = "fw"
inside = "open"
[segment.blue]
tenant = "blue"
v6 = "fd02::/64"
gateway = "fw"
inside = "open"
)",
                            R"(
[enforcer.fw]
kind = "router"
manage = "bulkhead"
[enforcer.fw.legs]
red = { segment = "red", v4 = "10.1.0.1/24" }
blue = { segment = "blue", v6 = "fd02::1/64" }
[host.r1]
nic.e0 = { segment = "red", v4 = "10.1.0.11" }
[host.b1]
nic.e0 = { segment = "blue", v6 = "fd02::11" }
)");
  ASSERT_TRUE(site.ok());
  const ClassId red = id_of(site, "red"), blue = id_of(site, "blue");
  const ProbePlan plan = plan_probes(site, {});
  const auto found = std::find_if(plan.unprobed.begin(), plan.unprobed.end(), [&](auto& u) {
    return u.from == red && u.to == blue && u.what.empty();
  });
  ASSERT_NE(found, plan.unprobed.end());
  EXPECT_FALSE(found->vacuous) << found->reason;
}

TEST(ProbeBook, RoundTripsThroughJson) {
  const Site site =
      site_of(std::string(kSmallPolicy), std::string(kSmallInventory) + std::string(kBetween));
  const ProbeBook book = make_probe_book(site, {});
  const std::string text = to_json(book, site);
  const auto back = book_from_json(text, site);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(to_json(*back, site), text);
  const auto ids = [](const ProbeBook& of) {
    std::vector<std::string> out;
    for (const Probe& p : probes_of(of).probes)
      out.push_back(p.id + p.to.host + p.to.address.str() + std::to_string(p.port) + p.rule);
    return out;
  };
  EXPECT_EQ(ids(*back), ids(book));
}

TEST(ProbeBook, HoldsEachEndAndEachListOnce) {
  const Site& site = small_site();
  const ProbeBook book = make_probe_book(site, {});
  std::set<std::tuple<ClassId, std::string, std::string, Address>> ends;
  for (const ProbeEnd& end : book.ends)
    EXPECT_TRUE(ends.emplace(end.cls, end.host, end.nic, end.address).second) << end.host;
  EXPECT_EQ(std::set(book.shots.begin(), book.shots.end()).size(), book.shots.size());
  std::size_t probes = 0;
  for (const ProbedPair& pair : book.pairs)
    for (const std::uint32_t list : pair.shots)
      probes += book.shots[list].size();
  EXPECT_EQ(probes_of(book).probes.size(), probes);
  EXPECT_LT(book.shots.size(), book.pairs.size());
}

TEST(ProbeBook, RefusesWhatIsNoPlan) {
  const Site& site = small_site();
  const std::string text = to_json(make_probe_book(site, {}), site);
  const auto with = [&](std::string from, const std::string& to) {
    std::string changed = text;
    const auto at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return changed.replace(at, from.size(), to);
  };
  EXPECT_FALSE(book_from_json("", site));
  EXPECT_FALSE(book_from_json("{}", site));
  EXPECT_FALSE(book_from_json("[1]", site));
  EXPECT_FALSE(book_from_json(with("bulkhead.probe/2", "bulkhead.probe/3"), site));
  EXPECT_FALSE(book_from_json(with("\"transport\":\"tcp\"", "\"transport\":\"dccp\""), site));
  EXPECT_FALSE(book_from_json(with("\"port\":7,", "\"port\":70000,"), site));
  EXPECT_FALSE(book_from_json(with("\"port\":7,", "\"port\":\"7\","), site));
  EXPECT_FALSE(book_from_json(with("\"class\":\"red-fe\"", "\"class\":\"green\""), site));
  EXPECT_FALSE(book_from_json(with("\"port\":7,", "\"port\":7,\"colour\":1,"), site));
  EXPECT_FALSE(book_from_json(with("{\"from\":0,", "{\"from\":99999,"), site));
  EXPECT_FALSE(book_from_json(with("\"shots\":[0", "\"shots\":[99999"), site));
}

}  // namespace
}  // namespace bulkhead::compiler
