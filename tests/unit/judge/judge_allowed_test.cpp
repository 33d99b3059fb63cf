// One test for each line of the allowed table of docs/verdicts.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/judge/try_builder.h"

namespace bulkhead::probes {
namespace {

using compiler::Payload;
using compiler::Transport;
using testing::HasSubstr;

void expect_verdict(const ProbeCase& probe_case, Finding finding, std::string_view kind) {
  const Verdict verdict = judge(probe_case);
  EXPECT_EQ(to_string(verdict.finding), to_string(finding)) << verdict.reason;
  EXPECT_EQ(verdict.kind, kind) << verdict.reason;
}

TEST(JudgeAllowed, DeliveredAnsweredAndSeenByTheEnforcerConforms) {
  ProbeCase c = allowed();
  Try t(c);
  t.answered();
  t.listener(Outcome::SynSeen);
  t.listener(Outcome::TokenSeen);
  t.left();
  expect_verdict(c, Finding::Conforms, "delivered");
  EXPECT_EQ(judge(c).controls, "");
}

TEST(JudgeAllowed, TheListenersOwnAnswerProvesThatItSawTheToken) {
  ProbeCase c = allowed();
  Try t(c);
  t.answered();
  t.left();
  expect_verdict(c, Finding::Conforms, "delivered");
}

TEST(JudgeAllowed, TheSameTokenTwiceFromOneTupleIsARetransmission) {
  ProbeCase c = allowed();
  c.probe.transport = Transport::Udp;
  Try t(c);
  t.answered();
  t.listener(Outcome::TokenSeen);
  t.listener(Outcome::TokenSeen);
  t.left();
  expect_verdict(c, Finding::Conforms, "delivered");
}

TEST(JudgeAllowed, TheSameTokenFromTwoTuplesIsForged) {
  ProbeCase c = allowed();
  Try t(c);
  t.answered();
  t.listener(Outcome::TokenSeen);
  t.listener(Outcome::TokenSeen).tuple.sport = 1;
  t.left();
  expect_verdict(c, Finding::Inconclusive, "forged token");
}

TEST(JudgeAllowed, TheRightTokenFromTheWrongTupleIsForgedWhereNoEnforcerSawItPass) {
  ProbeCase c = allowed();
  Try t(c);
  t.answered();
  t.listener(Outcome::TokenSeen).tuple.from = addr("192.0.2.1");
  expect_verdict(c, Finding::Inconclusive, "forged token");
}

TEST(JudgeAllowed, BehindANatOnThePathTheTupleMayDiffer) {
  ProbeCase c = allowed();
  Try t(c);
  t.answered();
  t.listener(Outcome::TokenSeen).tuple.from = addr("192.0.2.1");
  t.left();
  expect_verdict(c, Finding::Conforms, "delivered");
  EXPECT_THAT(judge(c).reason, HasSubstr("translated to 192.0.2.1"));
}

TEST(JudgeAllowed, AnUnknownTokenIsForged) {
  ProbeCase c = allowed();
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.listener(Outcome::TokenSeen).token = std::string(32, 'a');
  expect_verdict(c, Finding::Inconclusive, "forged token");
}

TEST(JudgeAllowed, AWrongMacIsAnotherHost) {
  ProbeCase c = allowed();
  Try t(c);
  t.answered().answer = to_hex(answer_to(AgentKey{{8}}, t.record().token));
  t.left();
  expect_verdict(c, Finding::Inconclusive, "answered by another host");
}

TEST(JudgeAllowed, AnotherHostThatAnsweredOnceIsNotRetriedAway) {
  ProbeCase c = allowed();
  Try(c).dialer(Outcome::Accepted);
  Try t(c);
  t.answered();
  t.listener(Outcome::TokenSeen);
  t.left();
  expect_verdict(c, Finding::Inconclusive, "answered by another host");
}

TEST(JudgeAllowed, AroundTheEnforcerIsAFinding) {
  ProbeCase c = allowed();
  Try t(c);
  t.answered();
  t.listener(Outcome::TokenSeen);
  expect_verdict(c, Finding::Inconclusive, "around the enforcer");
  t.record().events_lost = true;
  expect_verdict(c, Finding::Inconclusive, "events lost");
}

TEST(JudgeAllowed, WithoutAnEnforcerOnThePathArrivalIsEnough) {
  ProbeCase c = allowed();
  c.enforcers.clear();
  Try t(c);
  t.answered();
  t.listener(Outcome::TokenSeen);
  expect_verdict(c, Finding::Conforms, "delivered");
}

TEST(JudgeAllowed, TheEnforcerItselfReceivesLocally) {
  ProbeCase c = allowed();
  c.probe.to.host = kFirewall;
  Try t(c);
  t.answered();
  t.saw(End::Enforcer, kFirewall, Outcome::Delivered);
  expect_verdict(c, Finding::Conforms, "delivered");
}

TEST(JudgeAllowed, AnEchoNeedsRequestAndReply) {
  ProbeCase c = allowed();
  c.probe.transport = Transport::Icmp;
  Try t(c);
  t.dialer(Outcome::Answered);
  t.left();
  expect_verdict(c, Finding::Outage, "lost behind the enforcer");
  t.listener(Outcome::PacketSeen);
  expect_verdict(c, Finding::Conforms, "delivered");
}

TEST(JudgeAllowed, ABareProtocolNeedsToArriveAndNoAnswer) {
  ProbeCase c = allowed();
  c.probe.transport = Transport::Raw;
  c.probe.port = 47;
  Try t(c);
  t.dialer(Outcome::Refused).icmp_from = c.probe.to.address;  // nobody there speaks it
  t.left();
  EXPECT_NE(judge(c).finding, Finding::Conforms);
  t.listener(Outcome::PacketSeen);
  expect_verdict(c, Finding::Conforms, "delivered");
  EXPECT_THAT(judge(c).reason, HasSubstr("raw protocol 47"));
}

TEST(JudgeAllowed, ABareProtocolIsReceivedByTheEnforcerItself) {
  ProbeCase c = allowed();
  c.probe.transport = Transport::Raw;
  c.probe.to.host = kFirewall;
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.saw(End::Enforcer, kFirewall, Outcome::Delivered);
  expect_verdict(c, Finding::Conforms, "delivered");
}

TEST(JudgeAllowed, ABareProtocolThatNoEnforcerSawWentAroundIt) {
  ProbeCase c = allowed();
  c.probe.transport = Transport::Raw;
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.listener(Outcome::PacketSeen);
  expect_verdict(c, Finding::Inconclusive, "around the enforcer");
}

TEST(JudgeAllowed, ARequestWithoutReplyIsAnOutageThatSaysSo) {
  ProbeCase syn = allowed();
  Try t(syn);
  t.dialer(Outcome::Timeout);
  t.listener(Outcome::SynSeen);
  t.left();
  expect_verdict(syn, Finding::Outage, "reply blocked");
  ProbeCase udp = allowed();
  udp.probe.transport = Transport::Udp;
  Try u(udp);
  u.dialer(Outcome::Timeout);
  u.listener(Outcome::TokenSeen);
  u.left();
  expect_verdict(udp, Finding::Outage, "reply blocked");
}

TEST(JudgeAllowed, OfARoceHeaderArrivalIsAllThereIsToSee) {
  ProbeCase c = allowed();
  c.probe.transport = Transport::Udp;
  c.probe.payload = Payload::RoceRequest;
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.listener(Outcome::TokenSeen);
  t.left();
  expect_verdict(c, Finding::Conforms, "delivered");
}

TEST(JudgeAllowed, ADeadAgentIsInconclusive) {
  ProbeCase c = allowed();
  Try t(c);
  t.answered();
  t.listener(Outcome::TokenSeen);
  t.left();
  t.record().listener_alive = false;
  expect_verdict(c, Finding::Inconclusive, "agent died");
}

TEST(JudgeAllowed, AVoidRoundAndAFailedSetUpAreInconclusive) {
  ProbeCase c = allowed();
  Try t(c);
  t.dialer(Outcome::SetupFailed);
  expect_verdict(c, Finding::Inconclusive, "set-up failed");
  t.record().round_void = true;
  expect_verdict(c, Finding::Inconclusive, "round void");
}

TEST(JudgeAllowed, NoWordFromTheDialerIsNoResult) {
  ProbeCase c = allowed();
  Try t(c);
  t.left();
  expect_verdict(c, Finding::Inconclusive, "no result");
}

TEST(JudgeAllowed, ADroppedPacketIsAnOutageThatNamesTheRule) {
  ProbeCase c = allowed();
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.dropped("default");
  expect_verdict(c, Finding::Outage, "dropped");
  EXPECT_THAT(judge(c).reason, HasSubstr("fw-a: rule `default` in inet bulkhead c_red"));
}

TEST(JudgeAllowed, ARealServiceIsWatchedOnly) {
  ProbeCase c = allowed();
  c.passive = true;
  Try t(c);
  t.dialer(Outcome::Accepted);
  t.listener(Outcome::SynSeen);
  t.left();
  expect_verdict(c, Finding::Conforms, "at a real service");
}

// No capture runs for an enforcer's own addresses: its trace says that the packet came to it.
TEST(JudgeAllowed, ARealServiceOfAnEnforcerIsWatchedByItsTrace) {
  ProbeCase c = allowed();
  c.probe.to.host = kFirewall;
  c.passive = true;
  Try t(c);
  t.dialer(Outcome::Accepted);
  t.saw(End::Enforcer, kFirewall, Outcome::Delivered);
  expect_verdict(c, Finding::Conforms, "at a real service");
}

TEST(JudgeAllowed, ADeadListenerIsNotAnOutageOfTheNetwork) {
  ProbeCase c = allowed();
  Try t(c);
  t.dialer(Outcome::Refused);
  t.listener(Outcome::SynSeen);
  t.left();
  expect_verdict(c, Finding::Inconclusive, "dead listener");
}

struct Loss {
  Outcome outcome;
  const char* kind;
};
class JudgeAllowedLoss : public testing::TestWithParam<Loss> {};
TEST_P(JudgeAllowedLoss, IsAnOutage) {
  ProbeCase c = allowed();
  Try t(c);
  t.dialer(GetParam().outcome);
  expect_verdict(c, Finding::Outage, GetParam().kind);
}
INSTANTIATE_TEST_SUITE_P(All, JudgeAllowedLoss,
                         testing::Values(Loss{Outcome::Timeout, "lost"},
                                         Loss{Outcome::Sent, "lost"},
                                         Loss{Outcome::Refused, "refused on the way"},
                                         Loss{Outcome::Unreachable, "unreachable"},
                                         Loss{Outcome::NoRoute, "no route"}));

TEST(JudgeAllowed, LostBehindTheEnforcer) {
  ProbeCase c = allowed();
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.left();
  expect_verdict(c, Finding::Outage, "lost behind the enforcer");
}

TEST(JudgeAllowed, LostEventsMakeAMissingPacketInconclusive) {
  ProbeCase c = allowed();
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.record().events_lost = true;
  expect_verdict(c, Finding::Inconclusive, "events lost");
}

TEST(JudgeAllowed, TowardsAnAgentlessHostLeavingIsEnough) {
  ProbeCase c = allowed();
  c.probe.to.agentless = true;
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.left();
  expect_verdict(c, Finding::Conforms, "left");
}

TEST(JudgeAllowed, AnAgentlessHostWithoutAnEnforcerMustSpeak) {
  ProbeCase c = allowed();
  c.probe.to.agentless = true;
  c.enforcers.clear();
  Try t(c);
  t.dialer(Outcome::Timeout);
  expect_verdict(c, Finding::Inconclusive, "silence");
  Try(c).dialer(Outcome::Refused);
  expect_verdict(c, Finding::Conforms, "host spoke");
}

TEST(JudgeAllowed, OneTryThatCameThroughIsEnoughAndAllTriesAreCounted) {
  ProbeCase c = allowed();
  Try(c).dialer(Outcome::Timeout);
  Try(c).dialer(Outcome::Timeout);
  Try t(c);
  t.answered();
  t.listener(Outcome::TokenSeen);
  t.left();
  expect_verdict(c, Finding::Conforms, "delivered");
  EXPECT_EQ(judge(c).tries, 3u);
}

TEST(Judge, WorstOf) {
  Verdict good, bad;
  good.finding = Finding::Conforms;
  bad.finding = Finding::Outage;
  EXPECT_EQ(worst_of({}), Finding::Conforms);
  EXPECT_EQ(worst_of({good, bad, good}), Finding::Outage);
}

TEST(Judge, VerdictAsJson) {
  ProbeCase c = denied();
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.dropped();
  EXPECT_EQ(to_json_line(judge(c)),
            R"~({"schema":"bulkhead.verdict/1","probe":"p-000001","finding":"Conforms",)~"
            R"~("kind":"blocked","cause":"rule","seen":["dialer:r1:timeout",)~"
            R"~("enforcer:fw-a:default"],"controls":"2/2","tries":1,"reason":)~"
            R"~("r1 10.1.0.11 -> b1 10.2.0.11 tcp 22: the planned rule dropped it )~"
            R"~((fw-a: rule `default` in inet bulkhead c_red)"})~");
}

}  // namespace
}  // namespace bulkhead::probes
