// What a person reads of a difference: names, order, causes.
#include "compiler/proof/difference.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "compiler/proof/deciders.h"
#include "compiler/proof/naming_words.h"
#include "compiler/proof/rule_texts.h"
#include "compiler/proof/senders.h"

namespace bulkhead::compiler::proof {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const Site& two_tenants() {
  static const Site site = load_site(
      std::filesystem::path(BULKHEAD_SOURCE_DIR) / "scenarios/two-tenants", policy::Date{});
  return site;
}

Box box_of(std::vector<std::pair<Field, std::vector<ValueRange>>> fields) {
  return {std::move(fields)};
}

std::string traffic(const Box& box, Family family = Family::V4) {
  return traffic_words(box, family, &two_tenants().matrix);
}

TEST(Words, ProtocolsByNameAndByWhatIsLeftOut) {
  EXPECT_EQ(traffic(box_of({{Field::Protocol, {{6, 6}}}})), "tcp");
  EXPECT_EQ(traffic(box_of({{Field::Protocol, {{0, 0}, {2, 16}, {18, 255}}}})),
            "everything but icmp and udp");
  EXPECT_EQ(traffic(box_of({{Field::Protocol, {{0, 57}, {59, 255}}}}), Family::V6),
            "everything but icmpv6");
  EXPECT_EQ(traffic(box_of({{Field::Protocol, {{6, 6}, {17, 17}}}})), "tcp, udp");
  EXPECT_EQ(traffic(box_of({{Field::Protocol, {{99, 99}}}})), "protocol 99");
}

TEST(Words, PortsByServiceAndByWhatIsLeftOut) {
  const auto tcp = [](std::vector<ValueRange> ports) {
    return traffic(box_of({{Field::Protocol, {{6, 6}}}, {Field::DestinationPort, ports}}));
  };
  EXPECT_EQ(tcp({{2049, 2049}}), "nfs (tcp 2049)");
  EXPECT_EQ(tcp({{111, 111}, {2049, 2049}}), "tcp 111, 2049");
  EXPECT_EQ(tcp({{0, 21}, {23, 65535}}), "tcp but 22");
}

TEST(Words, IcmpTypesByName) {
  const auto icmp = [](Family family, std::vector<ValueRange> types) {
    const Value protocol = family == Family::V4 ? 1 : 58;
    return traffic(box_of({{Field::Protocol, {{protocol, protocol}}}, {Field::SourcePort, types}}),
                   family);
  };
  EXPECT_EQ(icmp(Family::V4, {{0x0800, 0x08ff}}), "icmp echo-request");
  EXPECT_EQ(icmp(Family::V6, {{0x8000, 0x80ff}}), "icmpv6 echo-request");
  EXPECT_EQ(icmp(Family::V4, {{0x0801, 0x08ff}}), "icmp type and code 2049-2303");
}

TEST(Naming, ARangeIsSplitBetweenItsHolders) {
  const Naming naming(&two_tenants());
  const auto from = [&](std::string_view first, std::string_view last) {
    return naming
        .name(box_of({{Field::Source4,
                       {{to_value(Address::parse(first).value()),
                         to_value(Address::parse(last).value())}}}}),
              Family::V4)
        .from;
  };
  EXPECT_EQ(from("10.1.0.0", "10.1.0.255"), "red, 10.1.0.1 (enforcer:fw), unused addresses of red")
      << "of 10.1.0.0/24 one address is the enforcer's, and only one";
  EXPECT_EQ(from("10.1.0.11", "10.1.0.11"), "10.1.0.11 (red)");
  EXPECT_EQ(from("10.9.0.0", "10.9.255.255"), "10.9.0.0/16 (nobody's)");
}

// ---- findings

Match state_is(std::uint32_t states) {
  Operand state;
  state.selector = Selector::CtState;
  state.mask = states;
  return {{state}, true, {{0, 0}}, kNone, false};
}

Ruleset forward_chain(bool policy_drop, std::vector<Rule> rules) {
  Ruleset ruleset;
  ruleset.tables.push_back({TableFamily::Inet, "filter", false, false});
  Chain chain;
  chain.name = "forward";
  chain.table = 0;
  chain.base = BaseChain{ChainType::Filter, Hook::Forward, 0, policy_drop, {}};
  chain.rules = std::move(rules);
  ruleset.chains.push_back(std::move(chain));
  return ruleset;
}

Rule accepting(std::vector<Statement> when) {
  Rule rule;
  rule.handle = 4;
  rule.statements = std::move(when);
  rule.statements.emplace_back(Decide{{VerdictKind::Accept, kNone}, "", false});
  return rule;
}

Differences told(const Ruleset& ruleset) {
  const Site& site = two_tenants();
  const EnforcerView& view = site.coverage.views.front();
  Diagrams space;
  Endings endings;
  Symbolic rules(space, endings, ruleset);
  const Intent intent = intend(space, site, view);
  const Diagram does = doing(rules, Passage::Forward);
  const Comparison comparison =
      compare(space, endings, Passage::Forward,
              possible_for(space, ruleset, Passage::Forward, does).packets, does,
              of(intent, Passage::Forward));
  Differences out = differences(space, comparison, ruleset, Naming(&site, &view), 16);
  Differences* passages[] = {&out};
  say_whether_harmless(passages);
  return out;
}

std::vector<Subject> subjects(const Differences& differences) {
  std::vector<Subject> out;
  for (const Finding& finding : differences.findings)
    out.push_back(finding.subject);
  return out;
}

TEST(Findings, AnOpenFirewallIsToldByWhomItConcerns) {
  const Differences open = told(forward_chain(false, {}));
  ASSERT_THAT(subjects(open), ElementsAre(Subject::Tenants, Subject::Misplaced, Subject::Nobody,
                                          Subject::Stranger));
  const Finding& first = open.findings.front();
  EXPECT_EQ(first.effect, Effect::Opens);
  EXPECT_THAT(first.causes, ElementsAre("inet filter forward, policy accept"));
  EXPECT_TRUE(first.begins);
  std::vector<std::string> nevers;
  std::size_t sendable = 0;  // not those of fragments and of rarer messages
  for (const Difference& one : first.differences) {
    nevers.insert(nevers.end(), one.policy.nevers.begin(), one.policy.nevers.end());
    sendable += one.not_sendable.empty() ? 1 : 0;
    EXPECT_TRUE(one.example.in.starts_with("bond0.")) << "a leg of the enforcer";
  }
  EXPECT_GE(sendable, 2U);
  EXPECT_THAT(first.differences.front().not_sendable, IsEmpty());
  EXPECT_THAT(nevers, Contains(HasSubstr("never N1 (")));
  EXPECT_THAT(open.findings.back().differences.front().not_sendable, Not(IsEmpty()));
}

// A protocol without ports goes as a bare packet, with its number where others have a port.
TEST(Findings, ProtocolsWithoutPortsAreSentRaw) {
  Example example;
  example.facts.from = *Address::parse("10.1.0.11");
  example.facts.to = *Address::parse("10.3.0.11");
  example.facts.protocol = 47;
  example.facts.sport = kClientPort;
  example.facts.dport = 47;
  EXPECT_EQ(probe_of(example), std::pair(compiler::Transport::Raw, std::uint16_t{47}));
  example.facts.dport = 80;  // a packet that has bytes of its own there
  EXPECT_EQ(probe_of(example), std::nullopt);
}

TEST(Findings, WhatIsStoppedIsNamedByItsFlow) {
  const Differences closed = told(forward_chain(true, {}));
  ASSERT_FALSE(closed.empty());
  const Finding& first = closed.findings.front();
  EXPECT_EQ(first.effect, Effect::Closes);
  EXPECT_THAT(first.causes, ElementsAre("inet filter forward, policy drop"));
  EXPECT_THAT(first.differences.front().policy.allowed, Not(IsEmpty()));
}

TEST(Findings, EstablishedIsOneFindingThatExplainsItself) {
  const Differences classic =
      told(forward_chain(true, {accepting({state_is(kCtEstablished | kCtRelated)})}));
  std::vector<const Finding*> opening;
  for (const Finding& finding : classic.findings)
    if (finding.effect == Effect::Opens)
      opening.push_back(&finding);
  ASSERT_EQ(opening.size(), 1U);
  EXPECT_EQ(opening[0]->subject, Subject::State);
  EXPECT_FALSE(opening[0]->begins);
  EXPECT_EQ(opening[0]->differences.size(), 3U) << "first direction, replies, related";
  EXPECT_THAT(opening[0]->notes.back(), HasSubstr("nothing else lets a connection"));
}

TEST(Findings, AsManyAsRulesThatOpen) {
  Operand port;
  port.selector = Selector::ThDport;
  const auto to_port = [&](Value number) {
    return Statement(Match{{port}, false, {{number, number}}, kNone, false});
  };
  const Differences two =
      told(forward_chain(true, {accepting({to_port(22)}), accepting({to_port(80)})}));
  std::vector<std::string> causes;
  for (const Finding& finding : two.findings)
    if (finding.subject == Subject::Tenants && finding.effect == Effect::Opens)
      causes.insert(causes.end(), finding.causes.begin(), finding.causes.end());
  EXPECT_THAT(causes, ElementsAre("inet filter forward, rule 1", "inet filter forward, rule 2"));
}

TEST(RuleTexts, AreFoundByTableAndHandle) {
  Ruleset ruleset = forward_chain(true, {accepting({})});
  add_rule_texts(ruleset,
                 "table ip filter { # handle 1\n\tchain forward { # handle 1\n"
                 "\t\tdrop # handle 4\n\t}\n}\n"
                 "table inet filter { # handle 2\n\tchain forward { # handle 1\n"
                 "\t\ttype filter hook forward priority filter; policy drop;\n"
                 "\t\ttcp dport { 22,\n\t\t\t\t80 } counter packets 3 bytes 4 accept comment "
                 "\"web\" # handle 4\n\t}\n}\n");
  EXPECT_EQ(described(ruleset, {0, 0}), "inet filter forward, rule 1: tcp dport { 22, 80 } accept");
}

}  // namespace
}  // namespace bulkhead::compiler::proof
