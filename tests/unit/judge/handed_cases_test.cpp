// Faults of other testers that the judge must not repeat. Names are those of the cases.
#include <gtest/gtest.h>

#include "tests/unit/judge/try_builder.h"

namespace bulkhead::probes {
namespace {

using compiler::Transport;

// D01: a UDP scan that always says open.
TEST(HandedCases, D01_UdpIsAllowedOnlyOnAnAnswerAndRefusedSaysByWhom) {
  ProbeCase silent = allowed();
  silent.probe.transport = Transport::Udp;
  Try(silent).dialer(Outcome::Timeout);
  EXPECT_EQ(judge(silent).finding, Finding::Outage);

  ProbeCase no_listener = denied();
  no_listener.probe.transport = Transport::Udp;
  Try(no_listener).dialer(Outcome::Refused).icmp_from = no_listener.probe.to.address;
  EXPECT_EQ(judge(no_listener).kind, "refused by host");
  EXPECT_EQ(judge(no_listener).finding, Finding::Leak);

  ProbeCase rejected = denied();
  rejected.probe.transport = Transport::Udp;
  Try by_router(rejected);
  by_router.dialer(Outcome::Refused).icmp_from = addr("10.1.0.1");
  EXPECT_EQ(judge(rejected).finding, Finding::Inconclusive);
  by_router.dropped();
  EXPECT_EQ(judge(rejected).kind, "rejected");
}

// D03: denied ports that nobody listens on, and no policy at all.
TEST(HandedCases, D03_ARefusalByTheHostIsNotBlocked) {
  ProbeCase c = denied();
  Try t(c);
  t.dialer(Outcome::Refused);
  EXPECT_NE(judge(c).finding, Finding::Conforms);
  t.listener(Outcome::SynSeen);
  EXPECT_EQ(judge(c).finding, Finding::Leak);
}

// D05: the channel is cut, the runner says 0, nothing was reported.
TEST(HandedCases, D05_WithoutACompleteRecordThereIsNoResult) {
  ProbeCase deny = denied();
  Try a(deny);
  EXPECT_EQ(judge(deny).kind, "no result");
  ProbeCase allow = allowed();
  Try b(allow);
  EXPECT_EQ(judge(allow).kind, "no result");
}

// D07: the server died after the first connection.
TEST(HandedCases, D07_ADeadListenerIsNeitherBlockedNorAnOutage) {
  ProbeCase c = allowed();
  Try t(c);
  t.dialer(Outcome::Refused);
  t.listener(Outcome::SynSeen);
  t.left();
  EXPECT_EQ(judge(c).kind, "dead listener");
  ProbeCase deny = denied();
  Try u(deny);
  u.dialer(Outcome::Timeout);
  u.dropped();
  u.record().target.after = Control3::Failed;  // the control just after found it dead
  EXPECT_EQ(judge(deny).finding, Finding::Inconclusive);
}

// D09: dropped at the source, though the destination would let it in.
TEST(HandedCases, D09_BlockedAnywhereOnThePathIsBlocked) {
  ProbeCase c = allowed();
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.dropped("", "inet egress");
  EXPECT_EQ(judge(c).finding, Finding::Outage);
}

// D11: open once after the rules were in force, blocked ever after.
TEST(HandedCases, D11_ALeakIsNeverRetriedAway) {
  ProbeCase c = denied();
  Try(c).listener(Outcome::TokenSeen);
  for (int i = 0; i < 3; ++i) {
    Try t(c);
    t.dialer(Outcome::Timeout);
    t.dropped();
  }
  EXPECT_EQ(judge(c).finding, Finding::Leak);
}

// D13: a log that says deny though traffic passes; TCP fine, UDP not.
TEST(HandedCases, D13_PacketsDecideNotLogs) {
  ProbeCase passes = denied();
  Try t(passes);
  t.dropped();  // what the enforcer says
  t.answered();
  t.listener(Outcome::TokenSeen);
  EXPECT_EQ(judge(passes).finding, Finding::Leak);

  ProbeCase udp = allowed();
  udp.probe.transport = Transport::Udp;
  udp.probe.port = 8472;
  Try u(udp);
  u.dialer(Outcome::Timeout);
  u.dropped("pair");
  EXPECT_EQ(judge(udp).finding, Finding::Outage);
}

// A13: fragments. Small passes, larger than the MTU does not.
TEST(HandedCases, A13_ALargeDatagramLostIsAnOutageThatSaysSo) {
  ProbeCase c = allowed();
  c.probe.transport = Transport::Udp;
  c.probe.size = compiler::kLargePayload;
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.dropped();
  EXPECT_EQ(judge(c).finding, Finding::Outage);
  EXPECT_NE(judge(c).reason.find("in fragments"), std::string::npos);
}

// A24: half of a flow. The request passes, the reply does not.
TEST(HandedCases, A24_RequestPassesReplyBlocked) {
  ProbeCase c = allowed();
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.listener(Outcome::SynSeen);
  t.left();
  EXPECT_EQ(judge(c).finding, Finding::Outage);
  EXPECT_EQ(judge(c).kind, "reply blocked");
}

// C12: a blocked probe that used the wrong device: its control, of the same kind, fails too.
TEST(HandedCases, C12_ABlockedProbeWithoutItsOwnControlIsInvalid) {
  ProbeCase c = denied();
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.dropped();
  t.record().source = {Control3::Failed, Control3::Failed, false};
  EXPECT_EQ(judge(c).finding, Finding::Inconclusive);
}

// C16: everything is down, so everything looks isolated.
TEST(HandedCases, C16_ABrokenNetworkIsNotIsolation) {
  ProbeCase c = denied();
  c.silence_external = c.silence_accepted = true;
  c.probe.cause = compiler::Cause::External;
  Try t(c);
  t.dialer(Outcome::Timeout);
  t.record().source = t.record().target = {Control3::Failed, Control3::Failed, false};
  EXPECT_EQ(judge(c).finding, Finding::Inconclusive);
}

}  // namespace
}  // namespace bulkhead::probes
