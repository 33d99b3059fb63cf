#include "probes/round_runner.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>

#include "probes/transports/transport.h"

namespace bulkhead::probes {
namespace {

using namespace std::chrono_literals;
using compiler::Probe;

// After the last open probe has its answer: what comes later is taken in a later round, or at the
// end by collect_late.
constexpr auto kGrace = 50ms;

class RoundRun {
 public:
  RoundRun(const Round& round, Crew& crew, PathWatch& watch, CaseBook& book,
           const RoundSettings& settings)
      : round_(round), crew_(crew), watch_(watch), book_(book), settings_(settings) {}

  RoundResult run(TokenSource& tokens) {
    prepare(tokens);
    arm();
    const bool whole = expect() && phase(Phase::Before) && phase(Phase::Main) &&
                       crew_.linger(kGrace, take()) && phase(Phase::After) && collect();
    if (whole)
      compare_marks();
    result_.cut_short = !whole;
    write_down();
    return std::move(result_);
  }

  LateArrivals late() {
    involved_ = crew_.living();
    const std::set<std::string> asked = involved_;
    // Longer than a try may take: what was held back for that long is seen as well.
    const bool whole = crew_.linger(settings_.try_timeout * 3 / 2, take()) && collect();
    for (std::size_t i = 0; i < book_.all().size(); ++i) {
      ProbeCase& probe_case = book_.at(i);
      const compiler::ProbeEnd& to = probe_case.probe.to;
      if (to.agentless || probe_case.probe.expect != compiler::Expect::Deny ||
          probe_case.tries.empty())
        continue;
      TryRecord& last = probe_case.tries.back();
      last.listener_alive = last.listener_alive && asked.contains(to.host) && crew_.alive(to.host);
      last.events_lost = last.events_lost || lost_.contains(to.host);
    }
    return {!whole, std::move(result_.stray)};
  }

 private:
  struct OpenControl {
    const Control* control = nullptr;
    DialTry before, after;
    bool good_before = false, good_after = false;
  };
  struct OpenProbe {
    std::size_t probe = 0;  // index into the plan
    const ScheduledProbe* scheduled = nullptr;
    DialTry what;
    bool sent = false;  // both agents lived when the round began
    bool settled = false;
  };

  // ---- before anything is sent

  void prepare(TokenSource& tokens) {
    for (const Control& control : round_.controls) {
      OpenControl open{&control, control.before, control.after};
      open.before.what.token = tokens.fresh();
      open.after.what.token = tokens.fresh();
      control_by_id_.emplace(control.id, controls_.size());
      controls_.push_back(std::move(open));
    }
    for (const ScheduledProbe& scheduled : round_.probes) {
      const ProbeCase& probe_case = book_.at(scheduled.probe);
      OpenProbe open{scheduled.probe, &scheduled, scheduled.exchange};
      open.what.what.token = tokens.fresh();
      open.what.what.attempt = static_cast<std::uint32_t>(probe_case.tries.size() + 1);
      const compiler::Detour& detour = probe_case.probe.detour;
      if (const auto to = crew_.mac(detour.host, detour.nic))
        open.what.frame = Frame{*to, probe_case.probe.from.nic, probe_case.bridged()};
      open.sent = crew_.alive(probe_case.probe.from.host) && listener_alive(probe_case) &&
                  detour_known(probe_case);
      open.settled = !open.sent;
      book_.open_try(scheduled.probe, round_.number, open.what.what);
      open_ += open.sent ? 1 : 0;
      by_probe_.emplace(scheduled.probe, probes_.size());
      probes_.push_back(std::move(open));
    }
  }

  [[nodiscard]] bool listener_alive(const ProbeCase& probe_case) const {
    const Probe& probe = probe_case.probe;
    if (probe.to.agentless)
      return true;
    const Crew::Trouble* trouble =
        crew_.trouble(probe.to.host, {probe.transport, probe.to.address, probe.port});
    return crew_.alive(probe.to.host) && (!trouble || trouble->passive);
  }

  [[nodiscard]] bool detour_known(const ProbeCase& probe_case) const {
    const compiler::Detour& detour = probe_case.probe.detour;
    return detour.host.empty() || crew_.mac(detour.host, detour.nic);
  }

  void arm() {
    std::vector<Expected> all;
    for_each_exchange([&](const std::string&, const DialTry& what) { all.push_back(what.what); });
    if (const Status armed = watch_.arm(all); !armed) {
      void_everything("the trace could not be armed: " + armed.error().message);
      return;
    }
    for (const std::string& member : settings_.enforcers) {
      auto mark = watch_.mark(member);
      if (mark)
        marks_.emplace(member, *std::move(mark));
      else
        void_reason_.emplace(member, "ruleset of " + member + ": " + mark.error().message);
    }
  }

  // Calls visit(target host, exchange) for all that will be sent.
  template <class Visit>
  void for_each_exchange(Visit visit) const {
    for (const OpenControl& open : controls_) {
      visit(open.control->target_host, open.before);
      visit(open.control->target_host, open.after);
    }
    for (const OpenProbe& open : probes_) {
      if (open.sent)
        visit(book_.at(open.probe).probe.to.host, open.what);
    }
  }

  [[nodiscard]] std::vector<std::uint32_t> unwanted_of_round() const {
    std::vector<std::uint32_t> heads;
    for (const OpenProbe& open : probes_) {
      if (open.sent && book_.at(open.probe).probe.expect == compiler::Expect::Deny)
        heads.push_back(initial_sequence(open.what.what.token));
    }
    return heads;
  }

  bool expect() {
    std::map<std::string, Expect> by_host;
    for_each_exchange([&](const std::string& target, const DialTry& what) {
      if (!settings_.enforcers.contains(target))
        by_host[target].tries.push_back(what.what);
      for (const std::string& member : settings_.enforcers)
        by_host[member].tries.push_back(what.what);
    });
    const std::vector<std::uint32_t> unwanted = unwanted_of_round();
    for (const std::string& host : crew_.living()) {
      if (!settings_.enforcers.contains(host))
        by_host[host].unwanted = unwanted;
    }
    std::set<std::string> asked;
    for (auto& [host, message] : by_host) {
      message.round = round_.number;
      crew_.send(host, message);
      asked.insert(host);
      involved_.insert(host);
    }
    return crew_.await(asked, deadline(), says<Expecting>(), take());
  }

  // ---- sending

  bool phase(Phase phase) {
    std::map<std::string, Dial> by_host;
    const auto add = [&](const std::string& host, const DialTry& what) {
      if (crew_.alive(host))
        by_host[host].tries.push_back(what);
    };
    if (phase == Phase::Main) {
      for (const OpenProbe& open : probes_) {
        if (open.sent)
          add(book_.at(open.probe).probe.from.host, open.what);
      }
    } else {
      for (const OpenControl& open : controls_)
        add(open.control->source_host, phase == Phase::Before ? open.before : open.after);
    }
    if (by_host.empty())
      return true;
    const std::uint32_t pps =
        settings_.max_pps == 0
            ? 0
            : std::max<std::uint32_t>(
                  1, settings_.max_pps / static_cast<std::uint32_t>(by_host.size()));
    std::size_t longest = 0;
    std::set<std::string> asked;
    for (auto& [host, dial] : by_host) {
      dial.round = round_.number;
      dial.phase = phase;
      dial.pps = pps;
      dial.timeout = settings_.try_timeout;
      longest = std::max(longest, dial.tries.size());
      result_.sent += dial.tries.size();
      crew_.send(host, dial);
      asked.insert(host);
      involved_.insert(host);
    }
    // A TCP or large UDP try is several packets; the pace counts packets.
    const auto pacing = pps == 0 ? 0ms : std::chrono::milliseconds(longest * 4000 / pps);
    const auto is_done = [this, phase](const std::string&, const FromAgent& message) {
      const auto* dialed = std::get_if<Dialed>(&message);
      return dialed && dialed->round == round_.number && dialed->phase == phase;
    };
    if (phase == Phase::Main)
      return crew_.await(asked, deadline() + pacing + settings_.try_timeout, is_done, take(),
                         [this] { return open_ == 0; });
    return crew_.await(asked, deadline() + pacing + settings_.try_timeout, is_done, take());
  }

  bool collect() {
    for (const std::string& host : involved_)
      crew_.send(host, Collect{round_.number});
    return crew_.await(
        involved_, deadline(),
        [this](const std::string& host, const FromAgent& message) {
          const auto* collected = std::get_if<Collected>(&message);
          if (!collected || collected->round != round_.number)
            return false;
          if (collected->lost > 0)
            lost_.insert(host);
          return true;
        },
        take());
  }

  void compare_marks() {
    for (const auto& [member, before] : marks_) {
      const auto after = watch_.mark(member);
      if (!after)
        void_reason_.emplace(member, "ruleset of " + member + ": " + after.error().message);
      else if (*after != before)
        void_reason_.emplace(member, "the ruleset of " + member + " changed");
    }
  }

  // ---- evidence

  Crew::Take take() {
    return [this](const std::string& host, Evidence evidence) {
      evidence.agent = host;  // as the channel says, whatever it calls itself
      CaseBook::Place astray;
      if (evidence.end == End::Bystander)
        astray = book_.find_astray(evidence);
      if (evidence.end == End::Enforcer)
        watch_.name_rule(evidence);
      if (settings_.evidence_line)
        settings_.evidence_line(to_json_line(evidence));
      if (evidence.end == End::Bystander) {
        if (astray.attempt)
          astray.attempt->evidence.push_back(std::move(evidence));
        return;
      }
      if (evidence.end == End::Enforcer && evidence.round == round_.number)
        crossed_.insert(evidence.tuple.from);
      if (const auto control = control_by_id_.find(evidence.probe);
          control != control_by_id_.end()) {
        take_control(controls_[control->second], evidence);
        return;
      }
      take_probe(std::move(evidence));
    };
  }

  void take_control(OpenControl& open, const Evidence& evidence) {
    if (evidence.end != End::Dialer || evidence.outcome != Outcome::Answered)
      return;
    const bool is_after = evidence.attempt == open.after.what.attempt;
    const DialTry& what = is_after ? open.after : open.before;
    // The kernel answers an echo; a listener proves who it is.
    const bool proven =
        what.what.transport == compiler::Transport::Icmp ||
        evidence.answer == to_hex(answer_to(crew_.key(open.control->target_host), what.what.token));
    (is_after ? open.good_after : open.good_before) |= proven;
  }

  void take_probe(Evidence evidence) {
    const CaseBook::Place place = book_.find(evidence.probe, evidence.attempt);
    if (!place.attempt) {
      // Controls of earlier rounds may come late; a forged report may name anything.
      if (!evidence.probe.starts_with("c-"))
        result_.stray.push_back(fmt::format("{} reported {} for a try that nobody made: {} {}",
                                            evidence.agent, to_string(evidence.outcome),
                                            evidence.probe, evidence.attempt));
      return;
    }
    if (answered_by_gateway(evidence, book_.at(place.probe)))
      crossed_.insert(evidence.tuple.from);
    const auto open = by_probe_.find(place.probe);
    const bool of_this_round = open != by_probe_.end() && place.attempt->round == round_.number;
    if (of_this_round && ends_waiting(evidence, book_.at(place.probe).probe) &&
        !probes_[open->second].settled) {
      probes_[open->second].settled = true;
      --open_;
    }
    place.attempt->evidence.push_back(std::move(evidence));
  }

  static bool answered_by_gateway(const Evidence& evidence, const ProbeCase& probe_case) {
    const auto& gateways = probe_case.gateway_addresses;
    return evidence.end == End::Dialer && evidence.outcome == Outcome::Unreachable &&
           evidence.icmp_from &&
           std::find(gateways.begin(), gateways.end(), *evidence.icmp_from) != gateways.end();
  }

  // The dialer has nothing more to wait for, or a denied packet has met its end.
  static bool ends_waiting(const Evidence& evidence, const Probe& probe) {
    return evidence.end == End::Dialer ||
           (probe.expect == compiler::Expect::Deny && evidence.end == End::Enforcer &&
            evidence.outcome == Outcome::Dropped);
  }

  // ---- what the round was worth

  void void_everything(const std::string& reason) { void_all_ = reason; }

  void write_down() {
    for (const OpenProbe& open : probes_) {
      ProbeCase& probe_case = book_.at(open.probe);
      const Probe& probe = probe_case.probe;
      TryRecord& attempt = probe_case.tries.back();
      attempt.dialer_alive = crew_.alive(probe.from.host);
      attempt.listener_alive = listener_alive(probe_case) && detour_known(probe_case);
      attempt.watcher_alive =
          probe_case.enforcers.empty() ||
          std::any_of(probe_case.enforcers.begin(), probe_case.enforcers.end(),
                      [&](const std::string& member) { return crew_.alive(member); });
      attempt.events_lost = lost_.contains(probe.to.host);
      attempt.void_reason = void_all_;
      for (const std::string& member : probe_case.enforcers) {
        attempt.events_lost = attempt.events_lost || lost_.contains(member);
        if (const auto reason = void_reason_.find(member); reason != void_reason_.end())
          attempt.void_reason = reason->second;
      }
      attempt.round_void = !attempt.void_reason.empty();
      attempt.cut_short = result_.cut_short;
      attempt.source = source_control(*open.scheduled, probe);
      attempt.target = best_of(open.scheduled->target_controls);
      result_.voided = result_.voided || attempt.round_void || attempt.cut_short;
      result_.worth_repeating =
          result_.worth_repeating || attempt.round_void || attempt.events_lost;
    }
  }

  // A flow that came through proves more than an anchor; one good control is enough.
  [[nodiscard]] ControlResult best_of(const std::vector<std::size_t>& indices) const {
    ControlResult best;
    for (const std::size_t index : indices) {
      const OpenControl& open = controls_[index];
      const auto three = [](bool good) { return good ? Control3::Good : Control3::Failed; };
      const ControlResult result{three(open.good_before), three(open.good_after),
                                 open.control->kind == ControlKind::Anchor};
      const auto worth = [](const ControlResult& r) {
        return r.good() ? (r.anchor ? 2 : 3) : (r.before == Control3::Absent ? 0 : 1);
      };
      if (worth(result) > worth(best))
        best = result;
    }
    return best;
  }

  [[nodiscard]] ControlResult source_control(const ScheduledProbe& scheduled,
                                             const Probe& probe) const {
    ControlResult result = best_of(scheduled.source_controls);
    // No allowed flow came through, but this source's packets reached an enforcer, or its gateway
    // answered them, in this very round.
    if (!result.good() && crossed_.contains(probe.from.address))
      result = {Control3::Good, Control3::Good, true};
    return result;
  }

  template <class Message>
  Crew::IsAnswer says() const {
    return [this](const std::string&, const FromAgent& message) {
      const auto* answer = std::get_if<Message>(&message);
      return answer && answer->round == round_.number;
    };
  }
  [[nodiscard]] Crew::Clock::time_point deadline() const {
    return Crew::Clock::now() + settings_.patience;
  }

  const Round& round_;
  Crew& crew_;
  PathWatch& watch_;
  CaseBook& book_;
  const RoundSettings& settings_;

  std::vector<OpenControl> controls_;
  std::unordered_map<std::string, std::size_t> control_by_id_;
  std::vector<OpenProbe> probes_;
  std::unordered_map<std::size_t, std::size_t> by_probe_;  // plan index -> probes_
  std::size_t open_ = 0;
  std::set<std::string> involved_;                          // agents that take part
  std::set<Address> crossed_;                               // sources whose packets an enforcer saw
  std::set<std::string> lost_;                              // agents that lost events
  std::map<std::string, std::string> marks_, void_reason_;  // by enforcer member
  std::string void_all_;
  RoundResult result_;
};

}  // namespace

Token TokenSource::fresh() {
  for (;;) {
    Token token{};
    randombytes_buf(token.data(), token.size());
    std::uint32_t head = 0;
    std::memcpy(&head, token.data(), sizeof(head));
    if (used_.insert(head).second)
      return token;
  }
}

LateArrivals collect_late(std::uint32_t number, Crew& crew, PathWatch& watch, CaseBook& book,
                          const RoundSettings& settings) {
  const Round none{number, {}, {}};
  return RoundRun(none, crew, watch, book, settings).late();
}

RoundResult run_round(const Round& round, Crew& crew, PathWatch& watch, CaseBook& book,
                      TokenSource& tokens, const RoundSettings& settings) {
  return RoundRun(round, crew, watch, book, settings).run(tokens);
}

}  // namespace bulkhead::probes
