#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "probes/schedule.h"
#include "tests/unit/judge/small_site.h"

namespace bulkhead::probes {
namespace {

using compiler::Expect;
using compiler::plan_probes;
using compiler::ProbePlan;

const ProbePlan& small_plan() {
  static const ProbePlan plan = plan_probes(small_site(), {});
  return plan;
}

template <class Visit>
void each_exchange(const std::vector<Round>& rounds, Visit visit) {
  for (const Round& round : rounds) {
    for (const Control& control : round.controls) {
      visit(round, control.before);
      visit(round, control.after);
    }
    for (const ScheduledProbe& probe : round.probes)
      visit(round, probe.exchange);
  }
}

RC_GTEST_PROP(Schedule, EveryProbeOnceAndNoTupleTwice, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto size = *rc::gen::inRange<std::size_t>(1, 400);
  TupleSource tuples(seed);
  const auto rounds = schedule(small_plan(), tuples, {size, seed});
  std::multiset<std::size_t> probes;
  for (const Round& round : rounds) {
    RC_ASSERT(round.probes.size() <= size);
    for (const ScheduledProbe& probe : round.probes)
      probes.insert(probe.probe);
  }
  RC_ASSERT(probes.size() == small_plan().probes.size());
  RC_ASSERT(std::set<std::size_t>(probes.begin(), probes.end()).size() == probes.size());

  std::set<std::pair<compiler::Transport, Tuple>> seen;
  each_exchange(rounds, [&](const Round&, const DialTry& exchange) {
    RC_ASSERT(seen.emplace(exchange.what.transport, exchange.what.tuple).second);
  });
}

// But for a port that the plan names on purpose, which goes to many: no two of those share a tuple.
RC_GTEST_PROP(Schedule, NoTwoExchangesOfARoundShareASourcePort, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  TupleSource tuples(seed);
  const auto rounds = schedule(small_plan(), tuples, {1500, seed});
  std::set<std::tuple<std::uint32_t, compiler::Transport, Tuple>> seen;
  each_exchange(rounds, [&](const Round& round, const DialTry& e) {
    Tuple key = e.what.tuple;
    if (key.sport >= TupleSource::kFirst)
      key = {key.from, key.sport, key.from, 0};
    RC_ASSERT(seen.emplace(round.number, e.what.transport, key).second);
  });
}

RC_GTEST_PROP(Schedule, EachDeniedProbeHasControlsOfItsOwnHosts, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  TupleSource tuples(seed);
  const auto rounds = schedule(small_plan(), tuples, {200, seed});
  for (const Round& round : rounds) {
    for (const ScheduledProbe& scheduled : round.probes) {
      const compiler::Probe& probe = small_plan().probes[scheduled.probe];
      if (probe.expect == Expect::Allow) {
        RC_ASSERT(scheduled.source_controls.empty() && scheduled.target_controls.empty());
        continue;
      }
      bool anchored = probe.to.agentless;
      RC_ASSERT(probe.to.agentless == scheduled.target_controls.empty());
      for (const std::size_t index : scheduled.target_controls) {
        const Control& control = round.controls.at(index);
        RC_ASSERT(control.target_host == probe.to.host);
        anchored = anchored || control.kind == ControlKind::Anchor;
        RC_ASSERT((control.kind == ControlKind::Anchor) ==
                  (control.source_host == control.target_host));
      }
      RC_ASSERT(anchored);
      for (const std::size_t index : scheduled.source_controls) {
        const Control& control = round.controls.at(index);
        RC_ASSERT(control.kind == ControlKind::AllowedFlow);
        RC_ASSERT(control.source_host == probe.from.host);
      }
    }
  }
}

// Nothing answers a bare protocol, so it vouches for nobody.
TEST(Schedule, NoControlIsOfABareProtocol) {
  TupleSource tuples(1);
  bool asked = false;
  for (const Round& round : schedule(small_plan(), tuples, {100, 1})) {
    for (const Control& control : round.controls) {
      EXPECT_NE(control.before.what.transport, compiler::Transport::Raw);
      EXPECT_EQ(control.before.what.payload, compiler::Payload::Token);
    }
    for (const ScheduledProbe& probe : round.probes)
      asked = asked || probe.exchange.what.transport == compiler::Transport::Raw;
  }
  EXPECT_TRUE(asked);
}

TEST(Schedule, IsDeterministicBySeed) {
  const auto ports = [](std::uint64_t seed) {
    TupleSource tuples(seed);
    std::vector<std::tuple<std::string, std::uint16_t>> out;
    each_exchange(schedule(small_plan(), tuples, {300, seed}), [&](const Round&, const DialTry& e) {
      out.emplace_back(e.what.probe, e.what.tuple.sport);
    });
    return out;
  };
  EXPECT_EQ(ports(7), ports(7));
  EXPECT_NE(ports(7), ports(8));
}

TEST(Schedule, SourcePortsAreNoListenersPorts) {
  TupleSource tuples(3);
  const Address from = *Address::parse("10.0.0.1"), to = *Address::parse("10.0.0.2");
  for (std::uint16_t port = TupleSource::kFirst; port < TupleSource::kLast; ++port)
    tuples.reserve(compiler::Transport::Tcp, from, port);
  EXPECT_EQ(tuples.fresh(compiler::Transport::Tcp, from, to, 1).sport, TupleSource::kLast);
  EXPECT_EQ(tuples.fresh(compiler::Transport::Tcp, from, to, 2).sport, TupleSource::kLast);
}

TEST(Schedule, ARepeatTakesFreshTuplesFromTheSameSource) {
  TupleSource tuples(1);
  const auto rounds = schedule(small_plan(), tuples, {5000, 1});
  std::set<std::pair<compiler::Transport, Tuple>> seen;
  each_exchange(rounds, [&](const Round&, const DialTry& e) {
    seen.emplace(e.what.transport, e.what.tuple);
  });
  const Round again = repeat(small_plan(), {0, 1, 2}, 99, tuples);
  EXPECT_EQ(again.probes.size(), 3u);
  each_exchange({again}, [&](const Round& round, const DialTry& e) {
    EXPECT_EQ(round.number, 99u);
    EXPECT_TRUE(seen.emplace(e.what.transport, e.what.tuple).second);
  });
}

}  // namespace
}  // namespace bulkhead::probes
