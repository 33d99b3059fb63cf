// One test for each line of the denied table of docs/verdicts.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "tests/unit/judge/try_builder.h"

namespace bulkhead::probes {
namespace {

using compiler::Cause;
using compiler::Payload;
using compiler::Transport;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

void expect_verdict(const ProbeCase& probe_case, Finding finding, std::string_view kind) {
  const Verdict verdict = judge(probe_case);
  EXPECT_EQ(to_string(verdict.finding), to_string(finding)) << verdict.reason;
  EXPECT_EQ(verdict.kind, kind) << verdict.reason;
}

TEST(JudgeDenied, BlockedNeedsTheDropOfThePlannedRuleAndControls) {
  ProbeCase c = denied();
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.dropped();
  const Verdict verdict = judge(c);
  EXPECT_EQ(verdict.finding, Finding::Conforms);
  EXPECT_EQ(verdict.kind, "blocked");
  EXPECT_EQ(verdict.controls, "2/2");
  EXPECT_EQ(verdict.tries, 1u);
  EXPECT_THAT(verdict.seen, Contains("enforcer:fw-a:default"));
}

TEST(JudgeDenied, ADropSeenBeforeTheDialerGaveUpIsEnough) {
  ProbeCase c = denied();
  Try t(c);
  t.dropped();
  t.dialer(Outcome::Sent);
  expect_verdict(c, Finding::Conforms, "blocked");
}

TEST(JudgeDenied, TokenAtTheListenerIsALeakWhateverElseIsKnown) {
  ProbeCase c = denied();
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.dropped();
  t.listener(Outcome::TokenSeen);
  t.record().listener_alive = false;
  t.record().source = {};
  expect_verdict(c, Finding::Leak, "delivered");
}

TEST(JudgeDenied, ASynAloneIsALeak) {
  ProbeCase c = denied();
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.listener(Outcome::SynSeen);
  expect_verdict(c, Finding::Leak, "arrived");
}

TEST(JudgeDenied, ASynKnownByItsTupleOnlyIsALeak) {
  ProbeCase c = denied();
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.listener(Outcome::SynSeen).token.clear();
  expect_verdict(c, Finding::Leak, "arrived");
}

TEST(JudgeDenied, AUdpDatagramSeenWhileTheDialerTimesOutIsALeak) {
  ProbeCase c = denied();
  c.probe.transport = Transport::Udp;
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.listener(Outcome::PacketSeen);
  expect_verdict(c, Finding::Leak, "arrived");
}

TEST(JudgeDenied, ACopyAtAnotherHostIsALeakThatNamesIt) {
  ProbeCase c = denied();
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.dropped();
  Evidence& seen = t.saw(End::Bystander, "s1", Outcome::PacketSeen);
  seen.interface = "e1";
  seen.detail = "storage";
  expect_verdict(c, Finding::Leak, "reached another host");
  EXPECT_THAT(judge(c).reason, HasSubstr("(s1, by e1 in storage)"));
  EXPECT_THAT(judge(c).seen, Contains("bystander:s1:packet_seen"));
}

TEST(JudgeDenied, AnEnforcersOwnSocketIsAnotherHost) {
  ProbeCase c = denied();
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.saw(End::Enforcer, kFirewall, Outcome::Delivered);
  expect_verdict(c, Finding::Leak, "reached another host");
  EXPECT_THAT(judge(c).reason, HasSubstr("(fw-a itself)"));
}

TEST(JudgeDenied, AnEchoRequestThatArrivesIsALeak) {
  ProbeCase c = denied();
  c.probe.transport = Transport::Icmp;
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.listener(Outcome::PacketSeen);
  expect_verdict(c, Finding::Leak, "arrived");
}

TEST(JudgeDenied, ABareProtocolOrALoneAckThatArrivesIsALeak) {
  for (const Transport transport : {Transport::Raw, Transport::Tcp}) {
    ProbeCase c = denied();
    c.probe.transport = transport;
    if (transport == Transport::Tcp)
      c.probe.payload = compiler::Payload::LoneAck;
    Try t(c);
    t.dialer(Outcome::Timeout);
    t.listener(Outcome::PacketSeen);
    expect_verdict(c, Finding::Leak, "arrived");
  }
}

TEST(JudgeDenied, ABareProtocolThatTheDestinationDoesNotSpeakIsALeak) {
  ProbeCase c = denied();
  c.probe.transport = Transport::Raw;
  c.probe.to.agentless = true;
  Try t(c);
  t.dialer(Outcome::Refused).icmp_from = c.probe.to.address;
  expect_verdict(c, Finding::Leak, "refused by host");
}

TEST(JudgeDenied, ABareProtocolIsBlockedByTheDropOfThisVeryPacket) {
  ProbeCase c = denied();
  c.probe.transport = Transport::Raw;
  Try t(c);
  t.dialer(Outcome::Timeout);
  expect_verdict(c, Finding::Inconclusive, "silence");
  t.dropped();
  expect_verdict(c, Finding::Conforms, "blocked");
}

TEST(JudgeDenied, DeliveredBehindATranslationIsALeak) {
  ProbeCase c = denied();
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.listener(Outcome::TokenSeen).tuple.from = addr("192.0.2.1");
  expect_verdict(c, Finding::Leak, "delivered");
}

TEST(JudgeDenied, DeliveredToTheEnforcersOwnSocketIsALeak) {
  ProbeCase c = denied();
  c.probe.to.host = kFirewall;
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.saw(End::Enforcer, kFirewall, Outcome::Delivered);
  expect_verdict(c, Finding::Leak, "delivered");
}

TEST(JudgeDenied, AValidAnswerIsALeakEvenIfTheListenersReportIsLost) {
  ProbeCase c = denied();
  Try t(c);
  t.answered();
  t.record().listener_alive = false;
  expect_verdict(c, Finding::Leak, "answered");
}

TEST(JudgeDenied, AnAnswerOfSomebodyElseIsALeakToThem) {
  ProbeCase c = denied();
  Try t(c);
  t.dialer(Outcome::Answered).answer = std::string(32, '0');
  expect_verdict(c, Finding::Leak, "answered by another host");
}

TEST(JudgeDenied, AHandshakeWithAnUnknownIsALeakToThem) {
  ProbeCase c = denied();
  Try t(c);
  t.dialer(Outcome::Accepted);
  expect_verdict(c, Finding::Leak, "answered by another host");
}

TEST(JudgeDenied, LeavingTheEnforcerIsALeak) {
  ProbeCase c = denied();
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.left();
  expect_verdict(c, Finding::Leak, "passed the enforcer");
}

TEST(JudgeDenied, RefusedByTheHostItselfIsALeak) {
  ProbeCase c = denied();
  c.probe.transport = Transport::Udp;
  Try t(c);
  t.dialer(Outcome::Refused).icmp_from = c.probe.to.address;
  expect_verdict(c, Finding::Leak, "refused by host");
}

TEST(JudgeDenied, AResetAfterTheSynWasSeenIsALeak) {
  ProbeCase c = denied();
  Try t(c);
  t.dialer(Outcome::Refused);
  t.listener(Outcome::SynSeen);
  expect_verdict(c, Finding::Leak, "arrived");
}

TEST(JudgeDenied, AResetThatOnlyTheDialerSawIsInconclusive) {
  ProbeCase c = denied();
  Try t(c);
  t.dialer(Outcome::Refused);
  expect_verdict(c, Finding::Inconclusive, "refused by an unknown");
}

TEST(JudgeDenied, ARejectOfThePlannedRuleConforms) {
  ProbeCase c = denied();
  Try t(c);
  t.dialer(Outcome::Refused);
  t.dropped();
  expect_verdict(c, Finding::Conforms, "rejected");
}

TEST(JudgeDenied, ADeadAgentIsNeverBlocked) {
  for (bool TryRecord::*who :
       {&TryRecord::dialer_alive, &TryRecord::listener_alive, &TryRecord::watcher_alive}) {
    ProbeCase c = denied();
    Try t(c);
    t.dialer(Outcome::Timeout);
    t.dropped();
    t.record().*who = false;
    expect_verdict(c, Finding::Inconclusive, "agent died");
  }
}

TEST(JudgeDenied, AVoidRoundDecidesNothing) {
  ProbeCase c = denied();
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.dropped();
  t.record().round_void = true;
  t.record().void_reason = "the ruleset of fw-a changed";
  expect_verdict(c, Finding::Inconclusive, "round void");
  EXPECT_THAT(judge(c).reason, HasSubstr("fw-a changed"));
}

TEST(JudgeDenied, ARoundThatTheDeadlineCutBlamesNoRuleset) {
  ProbeCase c = denied();
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.record().cut_short = true;
  expect_verdict(c, Finding::Inconclusive, "time was up");
  EXPECT_THAT(judge(c).reason, Not(HasSubstr("ruleset")));
}

TEST(JudgeDenied, TheRerunOfAVoidRoundDecides) {
  ProbeCase c = denied();
  Try(c).record().round_void = true;
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.dropped();
  expect_verdict(c, Finding::Conforms, "blocked");
}

TEST(JudgeDenied, ALeakInAVoidRoundStays) {
  ProbeCase c = denied();
  Try first(c);
  first.listener(Outcome::SynSeen);
  first.record().round_void = true;
  Try second(c);
  second.dialer(Outcome::Timeout);
  second.dropped();
  expect_verdict(c, Finding::Leak, "arrived");
}

TEST(JudgeDenied, LostEventsDecideNothing) {
  ProbeCase c = denied();
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.dropped();
  t.record().events_lost = true;
  expect_verdict(c, Finding::Inconclusive, "events lost");
}

TEST(JudgeDenied, AFailedSetUpIsNeverBlocked) {
  ProbeCase c = denied();
  Try t(c);
  t.dialer(Outcome::SetupFailed).detail = "bind: address already in use";
  expect_verdict(c, Finding::Inconclusive, "set-up failed");
  EXPECT_THAT(judge(c).reason, HasSubstr("already in use"));
}

TEST(JudgeDenied, AReportWithAWrongTokenIsNoArrivalButSpoilsTheSilence) {
  ProbeCase c = denied();
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.dropped();
  t.listener(Outcome::TokenSeen).token = std::string(32, 'a');
  expect_verdict(c, Finding::Inconclusive, "forged token");
}

TEST(JudgeDenied, AReportByAnotherAgentIsForged) {
  ProbeCase c = denied();
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.dropped();
  t.listener(Outcome::TokenSeen).agent = "x9";
  expect_verdict(c, Finding::Inconclusive, "forged token");
}

TEST(JudgeDenied, NoEvidenceIsNoResult) {
  ProbeCase c = denied();
  Try t(c);
  expect_verdict(c, Finding::Inconclusive, "no result");
  ProbeCase never = denied();
  expect_verdict(never, Finding::Inconclusive, "never tried");
}

TEST(JudgeDenied, BadControlsMakeADropInconclusive) {
  for (ControlResult TryRecord::*which : {&TryRecord::source, &TryRecord::target}) {
    ProbeCase c = denied();
    Try t(c);
    t.dialer(Outcome::Timeout);
    t.dropped();
    (t.record().*which).after = Control3::Failed;
    expect_verdict(c, Finding::Inconclusive, "controls failed");
    EXPECT_EQ(judge(c).controls, "1/2");
  }
}

TEST(JudgeDenied, SilenceWithGoodControlsButNoCauseIsInconclusive) {
  ProbeCase c = denied();
  Try t(c);
  t.dialer(Outcome::Timeout);
  expect_verdict(c, Finding::Inconclusive, "silence");
}

TEST(JudgeDenied, ADropByAnotherTableIsAFindingOfItsOwn) {
  ProbeCase c = denied();
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.dropped("", "ip docker");
  expect_verdict(c, Finding::Inconclusive, "blocked by another cause");
  EXPECT_THAT(judge(c).reason, HasSubstr("ip docker"));
}

TEST(JudgeDenied, ADropByAnotherRuleOfOursIsAFindingOfItsOwn) {
  ProbeCase c = denied();
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.dropped("spoofed");
  expect_verdict(c, Finding::Inconclusive, "blocked by another cause");
}

TEST(JudgeDenied, ADropByAnEnforcerThatIsNotOnThePathIsAFindingOfItsOwn) {
  ProbeCase c = denied();
  c.enforcers = {"fw2"};
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.dropped();
  expect_verdict(c, Finding::Inconclusive, "blocked by another cause");
}

TEST(JudgeDenied, PassedByTheFirstEnforcerAndDroppedByTheSecondIsAFinding) {
  ProbeCase c = denied();
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.dropped();
  t.left().agent = "fw-b";
  expect_verdict(c, Finding::Inconclusive, "blocked by another cause");
}

TEST(JudgeDenied, AnExplicitDenyIsSeenAtItsMapsRule) {
  ProbeCase c = denied();
  c.planned_rules = {"pair", "F9"};
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.dropped("pair");
  expect_verdict(c, Finding::Conforms, "blocked");
  ProbeCase by_default = denied();
  by_default.planned_rules = {"pair", "F9"};
  Try u(by_default);
  u.dialer(Outcome::Timeout);
  u.dropped("default");
  expect_verdict(by_default, Finding::Inconclusive, "blocked by another cause");
}

ProbeCase denied_by_route() {
  ProbeCase c = denied();
  c.probe.cause = Cause::Route;
  c.probe.enforcer.clear();
  c.enforcers.clear();
  c.gateway_addresses = {addr("10.1.0.1")};
  return c;
}

// "Net unreachable" from the gateway.
Evidence& no_route(Try& t, std::string_view from = "10.1.0.1") {
  Evidence& evidence = t.dialer(Outcome::Unreachable);
  evidence.icmp_from = addr(from);
  evidence.icmp_type = 3;
  evidence.icmp_code = 0;
  return evidence;
}

TEST(JudgeDenied, NoRouteFromTheGatewayIsThePlannedRoute) {
  ProbeCase c = denied_by_route();
  Try t(c);
  no_route(t);
  expect_verdict(c, Finding::Conforms, "no route");
  ProbeCase v6 = denied_by_route();
  v6.gateway_addresses = {addr("fd00:1::1")};
  Try u(v6);
  Evidence& evidence = no_route(u, "fd00:1::1");
  evidence.icmp_type = 1;
  expect_verdict(v6, Finding::Conforms, "no route");
}

// A filter's reject, a neighbour that does not answer, a loop: there may well be a route.
TEST(JudgeDenied, OtherErrorsFromTheGatewayAreNoMissingRoute) {
  struct Error {
    const char* from;
    std::uint8_t type, code;
  };
  for (const Error error : {Error{"10.1.0.1", 3, 1},
                            {"10.1.0.1", 3, 2},
                            {"10.1.0.1", 3, 9},
                            {"10.1.0.1", 3, 10},
                            {"10.1.0.1", 3, 13},
                            {"10.1.0.1", 11, 0},
                            {"fd00:1::1", 1, 1},
                            {"fd00:1::1", 1, 3},
                            {"fd00:1::1", 3, 0}}) {
    ProbeCase c = denied_by_route();
    c.gateway_addresses = {addr("10.1.0.1"), addr("fd00:1::1")};
    Try t(c);
    Evidence& evidence = no_route(t, error.from);
    evidence.icmp_type = error.type;
    evidence.icmp_code = error.code;
    expect_verdict(c, Finding::Inconclusive, "blocked by another cause");
  }
  ProbeCase unsaid = denied_by_route();
  Try t(unsaid);
  no_route(t).icmp_code.reset();
  expect_verdict(unsaid, Finding::Inconclusive, "blocked by another cause");
}

TEST(JudgeDenied, UnreachableFromSomebodyElseIsNot) {
  ProbeCase c = denied_by_route();
  Try t(c);
  no_route(t, "10.9.0.1");
  expect_verdict(c, Finding::Inconclusive, "blocked by another cause");
}

TEST(JudgeDenied, UnreachableWhereARuleIsPlannedIsAnotherCause) {
  ProbeCase c = denied();
  c.gateway_addresses = {addr("10.1.0.1")};
  Try t(c);
  no_route(t);
  expect_verdict(c, Finding::Inconclusive, "blocked by another cause");
}

TEST(JudgeDenied, ATableReadBackWithoutARouteIsThePlannedRoute) {
  ProbeCase c = denied_by_route();
  c.route_absent = true;
  Try t(c);
  t.dialer(Outcome::Timeout);
  expect_verdict(c, Finding::Conforms, "no route");
}

TEST(JudgeDenied, RouteNeedsControlsToo) {
  ProbeCase c = denied_by_route();
  Try t(c);
  no_route(t);
  t.record().target.before = Control3::Failed;
  expect_verdict(c, Finding::Inconclusive, "controls failed");
}

TEST(JudgeDenied, NoRouteAtTheSenderCountsOnlyWhereItsSegmentHasNoRouter) {
  ProbeCase c = denied_by_route();
  Try t(c);
  t.dialer(Outcome::NoRoute);
  expect_verdict(c, Finding::Inconclusive, "nothing was sent");
  c.no_gateway = true;
  expect_verdict(c, Finding::Conforms, "no route");
}

ProbeCase denied_externally() {
  ProbeCase c = denied();
  c.probe.cause = Cause::External;
  c.probe.enforcer.clear();
  c.enforcers.clear();
  c.silence_external = true;
  return c;
}

TEST(JudgeDenied, SilenceUnderAnExternalControlIsSilent) {
  ProbeCase c = denied_externally();
  Try t(c);
  t.silence();
  expect_verdict(c, Finding::Silent, "silent");
}

TEST(JudgeDenied, AcceptedSilenceConforms) {
  ProbeCase c = denied_externally();
  c.silence_accepted = true;
  Try t(c);
  t.silence();
  expect_verdict(c, Finding::Conforms, "silence accepted");
}

TEST(JudgeDenied, SilenceNeedsControlsThatCrossedTheNetwork) {
  ProbeCase c = denied_externally();
  c.silence_accepted = true;
  Try t(c);
  t.silence();
  t.record().target.anchor = true;
  expect_verdict(c, Finding::Inconclusive, "silence");
}

// A wrong neighbour entry looks like a port that is kept apart: the packet went to nobody.
TEST(JudgeDenied, SilenceProvesNothingWhereTheSenderSendsElsewhere) {
  const Mac right{2, 0, 0, 0, 0, 1}, wrong{2, 0, 0, 0, 0, 2};
  ProbeCase c = denied_externally();
  c.silence_accepted = true;
  c.target_macs = {right};
  c.gateway_addresses = {addr("10.1.0.1")};
  Try t(c);
  NextHop& hop = *t.silence().next_hop;
  expect_verdict(c, Finding::Conforms, "silence accepted");
  hop.mac = wrong;
  hop.permanent = true;
  expect_verdict(c, Finding::Inconclusive, "sender not in order");
  EXPECT_THAT(judge(c).reason,
              HasSubstr("(it sends to 10.2.0.11 at 02:00:00:00:00:02, an entry written by hand)"));
  hop.permanent = false;
  expect_verdict(c, Finding::Inconclusive, "sender not in order");
  hop.mac = right;
  expect_verdict(c, Finding::Conforms, "silence accepted");
  hop.link_up = false;
  expect_verdict(c, Finding::Inconclusive, "sender not in order");
  EXPECT_THAT(judge(c).reason, HasSubstr("(its link is down)"));
  hop = {addr("10.1.0.9"), right, false, true};  // a gateway that nobody declared
  expect_verdict(c, Finding::Inconclusive, "sender not in order");
  hop.address = addr("10.1.0.1");
  expect_verdict(c, Finding::Conforms, "silence accepted");
  hop.mac.reset();  // and does not answer
  expect_verdict(c, Finding::Inconclusive, "sender not in order");
  t.record().evidence.back().next_hop.reset();
  expect_verdict(c, Finding::Inconclusive, "sender not in order");
}

TEST(JudgeDenied, OfAHostWhoseAddressNobodyKnowsOnlyALearnedEntryCounts) {
  ProbeCase c = denied_externally();
  c.silence_accepted = true;
  c.probe.to.agentless = true;
  Try t(c);
  NextHop& hop = *t.silence().next_hop;
  hop.mac = Mac{2, 0, 0, 0, 0, 2};
  expect_verdict(c, Finding::Conforms, "silence accepted");
  hop.permanent = true;
  expect_verdict(c, Finding::Inconclusive, "sender not in order");
}

// A frame to the NIC of another segment: nobody sees it stop, so both ends have to be well.
TEST(JudgeDenied, SegmentsThatAreNotOneWire) {
  ProbeCase c = denied();
  c.probe.transport = Transport::Udp;
  c.probe.cause = Cause::Route;
  c.probe.rule = compiler::kRuleBridged;
  c.probe.detour = {kListener, "e0"};
  Try t(c);
  t.dialer(Outcome::Timeout);
  expect_verdict(c, Finding::Conforms, "not joined");
  t.record().target = {};
  expect_verdict(c, Finding::Inconclusive, "silence");
  t.listener(Outcome::PacketSeen).interface = "e0";
  expect_verdict(c, Finding::Leak, "arrived");
  EXPECT_THAT(judge(c).reason, HasSubstr("in a frame to its very NIC"));
}

TEST(JudgeDenied, AFrameThatWasNotSentSaysNothing) {
  ProbeCase c = denied();
  c.probe.cause = Cause::Route;
  c.probe.rule = compiler::kRuleBridged;
  Try(c).dialer(Outcome::SetupFailed);
  expect_verdict(c, Finding::Inconclusive, "set-up failed");
}

// EPERM: a rule of the sender's own host, which no control of the network is.
TEST(JudgeDenied, WhatTheSendersOwnHostRefusedWasNeverSent) {
  ProbeCase external = denied_externally();
  external.silence_accepted = true;
  Try(external).dialer(Outcome::Timeout).error = EPERM;
  expect_verdict(external, Finding::Inconclusive, "nothing was sent");
  ProbeCase route = denied_by_route();
  route.route_absent = true;
  Try(route).dialer(Outcome::Timeout).error = EPERM;
  expect_verdict(route, Finding::Inconclusive, "nothing was sent");
}

TEST(JudgeDenied, AnEnforcersOwnRuleMayRefuseWhatItSends) {
  ProbeCase c = denied();
  Try t(c);
  t.dialer(Outcome::Timeout).error = EPERM;
  t.dropped();
  expect_verdict(c, Finding::Conforms, "blocked");
}

TEST(JudgeDenied, SilenceMustLastUntilTheDeadline) {
  ProbeCase c = denied_externally();
  Try t(c);
  t.dialer(Outcome::Sent);
  expect_verdict(c, Finding::Inconclusive, "silence");
}

TEST(JudgeDenied, AcceptedSilenceIsNotForRules) {
  ProbeCase c = denied();
  c.silence_accepted = true;
  Try t(c);
  t.dialer(Outcome::Timeout);
  expect_verdict(c, Finding::Inconclusive, "silence");
}

TEST(JudgeDenied, TowardsAnAgentlessHostTheDropAndTheSourceAreEnough) {
  ProbeCase c = denied();
  c.probe.to.agentless = true;
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.dropped();
  t.record().target = {};
  expect_verdict(c, Finding::Conforms, "blocked");
  EXPECT_EQ(judge(c).controls, "1/1");
}

TEST(JudgeDenied, LeavingTowardsAnAgentlessHostIsALeak) {
  ProbeCase c = denied();
  c.probe.to.agentless = true;
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.left();
  expect_verdict(c, Finding::Leak, "passed the enforcer");
}

TEST(JudgeDenied, WhereSendersAreNotToldApartADropIsNotCovered) {
  ProbeCase c = denied();
  c.not_separated_from = "red.admin";
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.dropped();
  expect_verdict(c, Finding::NotCovered, "not separated");
  EXPECT_THAT(judge(c).reason, HasSubstr("red.admin"));
  t.listener(Outcome::SynSeen);
  expect_verdict(c, Finding::Leak, "arrived");
}

TEST(JudgeDenied, ARoceRequestThatArrivesIsALeak) {
  ProbeCase c = denied();
  c.probe.transport = Transport::Udp;
  c.probe.port = 4791;
  c.probe.payload = Payload::RoceRequest;
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.listener(Outcome::PacketSeen);
  expect_verdict(c, Finding::Leak, "arrived");
  EXPECT_THAT(judge(c).reason, HasSubstr("roce-request"));
}

// A packet handed to a host between two segments, as if it were a gateway.
ProbeCase through_a_host() {
  ProbeCase c = denied();
  c.probe.transport = compiler::Transport::Udp;
  c.probe.cause = compiler::Cause::Route;
  c.probe.detour = {"two", "a"};
  return c;
}

TEST(JudgeDetour, WhatArrivesThroughAHostIsALeakThatNamesIt) {
  ProbeCase c = through_a_host();
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.listener(Outcome::PacketSeen);
  expect_verdict(c, Finding::Leak, "arrived");
  EXPECT_THAT(judge(c).reason, HasSubstr("through two, around every enforcer"));
}

TEST(JudgeDetour, AKernelThatForwardsNothingAndGoodControlsConform) {
  ProbeCase c = through_a_host();
  c.route_absent = true;
  Try t(c);
  t.dialer(Outcome::Timeout);
  expect_verdict(c, Finding::Conforms, "no route");
  EXPECT_THAT(judge(c).reason, HasSubstr("the kernel of two forwards no IPv4"));
  t.record().target.after = Control3::Failed;
  expect_verdict(c, Finding::Inconclusive, "controls failed");
}

TEST(JudgeDetour, SilenceOfAHostThatForwardsDecidesNothing) {
  ProbeCase c = through_a_host();
  Try t(c);
  t.dialer(Outcome::Timeout);
  expect_verdict(c, Finding::Inconclusive, "silence");
}

}  // namespace
}  // namespace bulkhead::probes
