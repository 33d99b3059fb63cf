#include "probes/conduct.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "probes/crew.h"
#include "probes/round_runner.h"

namespace bulkhead::probes {
namespace {

using compiler::Expect;
using compiler::Probe;
using compiler::ProbePlan;
using compiler::Site;

// How many lines of one kind the notes hold before they only count.
constexpr std::size_t kMostStrayNotes = 20;

class Conductor {
 public:
  Conductor(const Site& site, const ProbePlan& plan, Launcher& launcher, PathWatch& watch,
            const ConductOptions& options)
      : site_(site),
        plan_(plan),
        watch_(watch),
        options_(options),
        crew_(launcher, {options.run, options.patience, options.stop, options.deadline}),
        book_(site, plan),
        tuples_(options.seed) {}

  Result<ProbeOutcome> run() {
    if (const Status ready = set_up(); !ready)
      return fail(ready.error());
    auto rounds = schedule(plan_, tuples_, {options_.probes_per_round, options_.seed});
    next_number_ = static_cast<std::uint32_t>(rounds.size() + 1);
    for (const Round& round : rounds) {
      if (!play(round, true))
        break;
      done_ += round.probes.size();
      if (options_.progress)
        options_.progress(done_, plan_.probes.size());
    }
    retry_allowed();
    await_late_arrivals();
    compare_pairs();
    const Status disarmed = watch_.disarm();
    if (stopped_)
      return fail(ErrorKind::Interrupted, "stopped before all probes were sent");
    if (!disarmed)
      outcome_.notes.push_back("the trace table stays: " + disarmed.error().message);
    finish();
    return std::move(outcome_);
  }

 private:
  // ---- agents and listeners

  Status set_up() {
    for (const ProbeCase& probe_case : book_.all())
      enforcers_.insert(probe_case.enforcers.begin(), probe_case.enforcers.end());
    std::set<std::string> hosts = options_.watchers;
    std::map<std::string, std::vector<Listener>> listeners;
    for (const Probe& probe : plan_.probes) {
      hosts.insert(probe.from.host);
      if (!probe.detour.host.empty())
        hosts.insert(probe.detour.host);
      if (probe.to.agentless)
        continue;
      hosts.insert(probe.to.host);
      listeners[probe.to.host].push_back({probe.transport, probe.to.address, probe.port});
    }
    for (auto& [host, wanted] : listeners)
      keep_different(wanted);
    crew_.start(with_nics(hosts), enforcers_);
    crew_.listen(listeners);
    if (stopped())
      return fail(ErrorKind::Interrupted, "stopped before the first probe was sent");
    if (!plan_.probes.empty() && !out_of_time() && !crew_.any_alive()) {
      const auto deaths = crew_.deaths();
      return fail(ErrorKind::Environment,
                  "no agent could be started; the first one said: " +
                      (deaths.empty() ? std::string("nothing") : deaths.front()));
    }
    for (std::size_t i = 0; i < plan_.probes.size(); ++i)
      tell_case(book_.at(i));
    for (const auto& [host, wanted] : listeners)
      note_troubles(host, wanted);
    return {};
  }

  [[nodiscard]] std::map<std::string, std::vector<std::string>> with_nics(
      const std::set<std::string>& hosts) const {
    std::map<std::string, std::vector<std::string>> out;
    for (const std::string& name : hosts) {
      auto& nics = out[name];
      const auto host = site_.inventory.hosts.find(name);
      if (host == site_.inventory.hosts.end())
        continue;
      for (const compiler::Nic& nic : host->second.nics)
        nics.push_back(nic.name);
    }
    return out;
  }

  static void keep_different(std::vector<Listener>& listeners) {
    const auto key = [](const Listener& l) { return std::tuple(l.transport, l.address, l.port); };
    std::sort(listeners.begin(), listeners.end(),
              [&](const Listener& a, const Listener& b) { return key(a) < key(b); });
    const auto same = [&](const Listener& a, const Listener& b) { return key(a) == key(b); };
    listeners.erase(std::unique(listeners.begin(), listeners.end(), same), listeners.end());
  }

  // What is known only now that the agents run.
  void tell_case(ProbeCase& probe_case) {
    const Probe& probe = probe_case.probe;
    if (!probe.detour.host.empty() && !probe_case.bridged())
      probe_case.route_absent = forwards_nothing(probe.detour.host, probe.from.address.family);
    else if (probe.cause == compiler::Cause::Route && !probe_case.bridged())
      probe_case.route_absent = watch_.route_is_absent(probe);
    if (probe.to.agentless)
      return;
    const AgentKey& key = crew_.key(probe.to.host);
    probe_case.expected_answer_key = bytes_to_hex(key);
    const Crew::Trouble* trouble =
        crew_.trouble(probe.to.host, {probe.transport, probe.to.address, probe.port});
    probe_case.passive = trouble && trouble->passive;
    if (probe_case.silence_external)
      for (const Mac& mac : crew_.macs(probe.to.host))
        probe_case.target_macs.push_back(mac);
  }

  // As its kernel says, through an agent that lives.
  [[nodiscard]] bool forwards_nothing(const std::string& host, Family family) const {
    const auto facts = crew_.facts();
    const auto found = facts.find(host);
    return crew_.alive(host) && found != facts.end() &&
           !(family == Family::V4 ? found->second.forwards_v4 : found->second.forwards_v6);
  }

  void note_troubles(const std::string& host, const std::vector<Listener>& listeners) {
    for (const Listener& listener : listeners) {
      const Crew::Trouble* trouble = crew_.trouble(host, listener);
      if (!trouble)
        continue;
      outcome_.notes.push_back(fmt::format("{} {} {} {}: {} ({})", host, listener.address.str(),
                                           to_string(listener.transport), listener.port,
                                           trouble->passive
                                               ? "a real service holds the port, it is watched only"
                                               : "no listener, so nothing is known of it",
                                           trouble->reason));
    }
  }

  // ---- rounds

  [[nodiscard]] bool stopped() const { return options_.stop && options_.stop->load(); }
  [[nodiscard]] bool out_of_time() const {
    return options_.deadline && Crew::Clock::now() >= *options_.deadline;
  }

  // False: no further round may begin.
  bool play(const Round& round, bool repeat_if_void) {
    if (out_of_time()) {
      outcome_.timed_out = true;
      return false;
    }
    RoundResult result = run_round(round, crew_, watch_, book_, tokens_, settings());
    ++outcome_.rounds;
    outcome_.packets_tried += result.sent;
    outcome_.void_rounds += result.voided ? 1 : 0;
    strays_.insert(strays_.end(), result.stray.begin(), result.stray.end());
    if (result.cut_short) {
      stopped_ = stopped();
      outcome_.timed_out = !stopped_;
      return false;
    }
    if (!result.worth_repeating || !repeat_if_void)
      return true;
    std::vector<std::size_t> again;
    for (const ScheduledProbe& scheduled : round.probes) {
      const TryRecord& last = book_.at(scheduled.probe).tries.back();
      if (last.round_void || last.events_lost)
        again.push_back(scheduled.probe);
    }
    return play(repeat(plan_, again, next_number_++, tuples_), false);
  }

  [[nodiscard]] RoundSettings settings() const {
    RoundSettings settings;
    settings.try_timeout = options_.try_timeout;
    settings.patience = options_.patience;
    settings.max_pps = site_.inventory.probe.max_pps.value_or(0);
    settings.enforcers = enforcers_;
    settings.evidence_line = options_.evidence_line;
    return settings;
  }

  // Only what should pass is tried again: a retry can hide a lost packet, never a leak.
  void retry_allowed() {
    for (std::uint32_t attempt = 0; attempt < options_.allow_retries; ++attempt) {
      std::vector<std::size_t> failed;
      for (std::size_t i = 0; i < plan_.probes.size(); ++i) {
        const ProbeCase& probe_case = book_.at(i);
        if (probe_case.probe.expect == Expect::Allow && !probe_case.tries.empty() &&
            !probe_case.tries.back().evidence.empty() &&
            judge(probe_case).finding != Finding::Conforms)
          failed.push_back(i);
      }
      const std::size_t most = std::max<std::size_t>(options_.probes_per_round, 1);
      for (std::size_t first = 0; first < failed.size(); first += most) {
        const auto begin = failed.begin() + static_cast<std::ptrdiff_t>(first);
        const auto end =
            failed.begin() + static_cast<std::ptrdiff_t>(std::min(first + most, failed.size()));
        if (stopped_ || !play(repeat(plan_, {begin, end}, next_number_++, tuples_), false))
          return;
        outcome_.retries += static_cast<std::uint64_t>(end - begin);
      }
    }
  }

  // ---- the end

  // What a drop hid may still come another way. Agents go on capturing what they expect, so all
  // that is needed is to wait as long as any packet was waited for, and to ask once more.
  void await_late_arrivals() {
    if (stopped_ || outcome_.timed_out || plan_.probes.empty())
      return;
    LateArrivals late = collect_late(next_number_++, crew_, watch_, book_, settings());
    strays_.insert(strays_.end(), late.stray.begin(), late.stray.end());
    if (late.cut_short) {
      stopped_ = stopped();
      outcome_.timed_out = !stopped_;
    }
  }

  // Traffic takes one member of a pair; that the other has the very same rules is all that is known
  // of what it would do.
  void compare_pairs() {
    if (stopped_ || outcome_.timed_out)
      return;
    for (const auto& [name, enforcer] : site_.inventory.enforcers) {
      const auto& members = enforcer.members;
      if (members.size() < 2 || !enforcers_.contains(members.front()))
        continue;
      const auto first = watch_.mark(members.front());
      for (std::size_t i = 1; i < members.size(); ++i) {
        const auto other = watch_.mark(members[i]);
        if (first && other && *first == *other)
          continue;
        const std::string why = !first ? first.error().message
                                : !other
                                    ? other.error().message
                                    : fmt::format("its rules are not those of {}", members.front());
        outcome_.findings.push_back(
            {Finding::Inconclusive, members[i],
             fmt::format("{}, of the pair {}, is not proven by the probes of {}: {}", members[i],
                         name, members.front(), why)});
      }
    }
  }

  void finish() {
    for (const std::string& death : crew_.deaths())
      outcome_.notes.push_back("agent " + death);
    outcome_.facts = crew_.facts();
    crew_.stop();
    for (const ProbeCase& probe_case : book_.all())
      outcome_.verdicts.push_back(judge(probe_case));
    find_forwarding_hosts();
    for (std::size_t i = 0; i < std::min(strays_.size(), kMostStrayNotes); ++i)
      outcome_.notes.push_back(strays_[i]);
    if (strays_.size() > kMostStrayNotes)
      outcome_.notes.push_back(fmt::format("{} more reports of tries that nobody made",
                                           strays_.size() - kMostStrayNotes));
    if (outcome_.timed_out)
      outcome_.notes.emplace_back("time was up before all probes were tried");
  }

  void find_forwarding_hosts() {
    for (const auto& [name, facts] : outcome_.facts) {
      const auto host = site_.inventory.hosts.find(name);
      if (host == site_.inventory.hosts.end() || host->second.forwards != false ||
          !(facts.forwards_v4 || facts.forwards_v6))
        continue;
      outcome_.findings.push_back(
          {Finding::Inconclusive, name,
           fmt::format(
               "{} forwards {} although the inventory says forwards = false: it is a path "
               "around the firewall",
               name, facts.forwards_v4 ? (facts.forwards_v6 ? "IPv4 and IPv6" : "IPv4") : "IPv6")});
    }
  }

  const Site& site_;
  const ProbePlan& plan_;
  PathWatch& watch_;
  const ConductOptions& options_;
  Crew crew_;
  CaseBook book_;
  TupleSource tuples_;
  TokenSource tokens_;
  std::set<std::string> enforcers_;
  std::uint32_t next_number_ = 1;
  std::size_t done_ = 0;
  bool stopped_ = false;
  std::vector<std::string> strays_;
  ProbeOutcome outcome_;
};

}  // namespace

Result<ProbeOutcome> conduct(const Site& site, const ProbePlan& plan, Launcher& launcher,
                             PathWatch& watch, const ConductOptions& options) {
  return Conductor(site, plan, launcher, watch, options).run();
}

}  // namespace bulkhead::probes
