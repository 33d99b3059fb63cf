#include "probes/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <tuple>

#include "compiler/probe_shot.h"

namespace bulkhead::probes {
namespace {

using compiler::Payload;
using compiler::Probe;
using compiler::ProbeEnd;
using compiler::ProbePlan;
using compiler::Transport;

// Of the allowed flows that could be a control two are taken: one broken flow must not make
// everything about a host inconclusive.
constexpr std::size_t kFlowsPerControl = 2;

DialTry exchange(const Probe& probe, const std::string& name, TupleSource& tuples) {
  const std::uint16_t port =
      probe.transport == Transport::Icmp ? kFirstQuery + probe.port : probe.port;
  DialTry out;
  out.what.probe = name;
  out.what.transport = probe.transport;
  out.what.payload = probe.payload;
  out.what.tuple = probe.sport == 0
                       ? tuples.fresh(probe.transport, probe.from.address, probe.to.address, port)
                       : Tuple{probe.from.address, probe.sport, probe.to.address, port};
  out.size = probe.size;
  return out;
}

// Who vouches for the ends of a denied probe. Nothing answers a bare IP protocol: what vouches for
// an echo does for it.
Transport vouching(const Probe& probe) {
  return probe.transport == Transport::Raw ? Transport::Icmp : probe.transport;
}

// Allowed flows of the plan by who sends and who receives them.
class AllowedFlows {
 public:
  explicit AllowedFlows(const ProbePlan& plan) : plan_(plan) {
    for (std::size_t i = 0; i < plan.probes.size(); ++i) {
      const Probe& probe = plan.probes[i];
      // A large datagram or a RoCE header fails for reasons of its own, and a bare protocol is
      // never answered; only plain exchanges show that a host is well.
      if (probe.transport == Transport::Raw || probe.expect != compiler::Expect::Allow ||
          probe.payload != Payload::Token || probe.sport != 0 ||
          (probe.transport == Transport::Icmp && probe.port != compiler::kEcho) ||
          probe.size == compiler::kLargePayload || probe.from.agentless || probe.to.agentless)
        continue;
      by_source_[probe.from.host].push_back(i);
      by_target_[probe.to.host].push_back(i);
    }
  }
  [[nodiscard]] std::vector<std::size_t> from(const ProbeEnd& end, Transport transport) const {
    return best(by_source_, end.host, transport,
                [&](const Probe& p) { return p.from.address == end.address; });
  }
  [[nodiscard]] std::vector<std::size_t> to(const ProbeEnd& end, Transport transport) const {
    return best(by_target_, end.host, transport,
                [&](const Probe& p) { return p.to.address == end.address; });
  }

 private:
  // Of this very address first, then of the same transport; echo last, since the kernel answers it
  // and not our listener.
  template <class SameAddress>
  [[nodiscard]] std::vector<std::size_t> best(
      const std::map<std::string, std::vector<std::size_t>>& flows, const std::string& host,
      Transport transport, SameAddress same_address) const {
    const auto found = flows.find(host);
    if (found == flows.end())
      return {};
    std::vector<std::size_t> order = found->second;
    const auto rank = [&](std::size_t i) {
      const Probe& p = plan_.probes[i];
      return std::tuple(!same_address(p), p.transport == Transport::Icmp, p.transport != transport,
                        i);
    };
    const std::size_t count = std::min(kFlowsPerControl, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count),
                      order.end(), [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
    order.resize(count);
    return order;
  }

  const ProbePlan& plan_;
  std::map<std::string, std::vector<std::size_t>> by_source_, by_target_;
};

class RoundMaker {
 public:
  RoundMaker(const ProbePlan& plan, const AllowedFlows& flows, TupleSource& tuples,
             std::uint32_t number)
      : plan_(plan), flows_(flows), tuples_(tuples) {
    round_.number = number;
  }

  void add(std::size_t index) {
    const Probe& probe = plan_.probes[index];
    ScheduledProbe scheduled;
    scheduled.probe = index;
    scheduled.exchange = exchange(probe, probe.id, tuples_);
    if (probe.expect == compiler::Expect::Deny) {
      scheduled.source_controls = source_controls(probe);
      scheduled.target_controls = target_controls(probe);
    }
    round_.probes.push_back(std::move(scheduled));
  }

  Round take() { return std::move(round_); }

 private:
  using Key = std::tuple<std::string, Address, Transport>;

  std::vector<std::size_t> source_controls(const Probe& probe) {
    const Transport transport = vouching(probe);
    const Key key{probe.from.host, probe.from.address, transport};
    const auto [entry, fresh] = sources_.try_emplace(key);
    if (fresh) {
      for (const std::size_t flow : flows_.from(probe.from, transport))
        entry->second.push_back(flow_control(flow));
    }
    return entry->second;
  }

  std::vector<std::size_t> target_controls(const Probe& probe) {
    if (probe.to.agentless)
      return {};  // nothing of ours listens there
    const Transport transport = vouching(probe);
    const Key key{probe.to.host, probe.to.address, transport};
    const auto [entry, fresh] = targets_.try_emplace(key);
    if (fresh) {
      for (const std::size_t flow : flows_.to(probe.to, transport))
        entry->second.push_back(flow_control(flow));
      // Beside the flows, always: it tells a dead listener from a broken path.
      entry->second.push_back(anchor(probe));
    }
    return entry->second;
  }

  // Sources and targets share the exchange where one flow serves both.
  std::size_t flow_control(std::size_t flow) {
    const auto [entry, fresh] = by_flow_.try_emplace(flow, round_.controls.size());
    if (fresh)
      add_control(ControlKind::AllowedFlow, plan_.probes[flow]);
    return entry->second;
  }

  std::size_t anchor(Probe probe) {
    probe.from = probe.to;
    probe.transport = vouching(probe);
    if (probe.transport == Transport::Icmp)
      probe.port = compiler::kEcho;
    probe.payload = Payload::Token;
    probe.sport = 0;
    add_control(ControlKind::Anchor, probe);
    return round_.controls.size() - 1;
  }

  void add_control(ControlKind kind, const Probe& probe) {
    Control control;
    control.id = fmt::format("c-{}-{}", round_.number, round_.controls.size() + 1);
    control.kind = kind;
    control.source_host = probe.from.host;
    control.target_host = probe.to.host;
    control.before = exchange(probe, control.id, tuples_);
    control.after = exchange(probe, control.id, tuples_);
    control.after.what.attempt = 2;
    round_.controls.push_back(std::move(control));
  }

  const ProbePlan& plan_;
  const AllowedFlows& flows_;
  TupleSource& tuples_;
  Round round_;
  std::map<Key, std::vector<std::size_t>> sources_, targets_;
  std::map<std::size_t, std::size_t> by_flow_;
};

// Where a rule decides, the trace ends the wait within milliseconds; a gateway's answer may come
// late (they are rate limited), and silence lasts until the deadline. Apart, they slow nothing else
// down.
bool waits_long(const Probe& probe) {
  return probe.expect == compiler::Expect::Deny && probe.cause != compiler::Cause::Rule;
}

void reserve_listeners(const ProbePlan& plan, TupleSource& tuples) {
  for (const Probe& probe : plan.probes)
    tuples.reserve(probe.transport, probe.to.address, probe.port);
}

}  // namespace

std::vector<Round> schedule(const ProbePlan& plan, TupleSource& tuples,
                            const ScheduleOptions& options) {
  reserve_listeners(plan, tuples);
  std::vector<std::size_t> order(plan.probes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Mixed, so that each round spreads over all hosts and no host is flooded. std::shuffle differs
  // between standard libraries; this must not.
  std::mt19937_64 random(options.seed);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[random() % i]);
  std::stable_partition(order.begin(), order.end(),
                        [&](std::size_t i) { return !waits_long(plan.probes[i]); });

  const AllowedFlows flows(plan);
  const std::size_t most = std::max<std::size_t>(options.probes_per_round, 1);
  std::vector<Round> rounds;
  for (std::size_t first = 0; first < order.size(); first += most) {
    RoundMaker maker(plan, flows, tuples, static_cast<std::uint32_t>(rounds.size() + 1));
    for (std::size_t i = first; i < std::min(first + most, order.size()); ++i)
      maker.add(order[i]);
    rounds.push_back(maker.take());
  }
  return rounds;
}

Round repeat(const ProbePlan& plan, const std::vector<std::size_t>& probes, std::uint32_t number,
             TupleSource& tuples) {
  const AllowedFlows flows(plan);
  RoundMaker maker(plan, flows, tuples, number);
  for (const std::size_t index : probes)
    maker.add(index);
  return maker.take();
}

}  // namespace bulkhead::probes
