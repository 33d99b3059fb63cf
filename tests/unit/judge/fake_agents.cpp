#include "tests/unit/judge/fake_agents.h"

namespace bulkhead::probes {
namespace {

class FakeChannel final : public Channel {
 public:
  FakeChannel(FakeWorld& world, std::string host) : world_(world), host_(std::move(host)) {}
  Status send(std::string_view line) override {
    if (state().dead)
      return fail(ErrorKind::Environment, "the agent is gone");
    world_.take(host_, to_agent_from_json(line).value());
    return {};
  }
  Result<std::string> receive(std::chrono::steady_clock::time_point) override {
    if (!state().lines.empty()) {
      std::string line = state().lines.front();
      state().lines.pop_front();
      return line;
    }
    if (state().dead)
      return fail(ErrorKind::Environment, "the agent is gone");
    return fail(ErrorKind::Timeout, "nothing yet");
  }
  [[nodiscard]] int poll_fd() const override { return -1; }
  [[nodiscard]] bool has_line() const override {
    return !world_.agents[host_].lines.empty() || world_.agents[host_].dead;
  }

 private:
  FakeWorld::State& state() { return world_.agents[host_]; }
  FakeWorld& world_;
  std::string host_;
};

class FakeProcess final : public AgentProcess {
 public:
  FakeProcess(FakeWorld& world, const std::string& host) : channel_(world, host) {}
  Channel& channel() override { return channel_; }
  [[nodiscard]] int pid() const override { return 1; }
  [[nodiscard]] std::string stderr_tail() const override { return {}; }

 private:
  FakeChannel channel_;
};

}  // namespace

Result<std::unique_ptr<AgentProcess>> FakeLauncher::launch(const std::string& host) {
  if (world_.unlaunchable.contains(host))
    return fail(ErrorKind::Environment, "no such host");
  world_.agents[host];
  return std::make_unique<FakeProcess>(world_, host);
}

void FakeWorld::take(const std::string& host, const ToAgent& message) {
  on_message(host, message);
  State& state = agents[host];
  if (state.dead)
    return;
  if (const auto* hello = std::get_if<Hello>(&message)) {
    state.hello = *hello;
    say(host, Ready{"0", facts[host]});
  } else if (const auto* listen = std::get_if<Listen>(&message)) {
    const auto opened = static_cast<std::uint32_t>(listen->listeners.size());
    say(host, Listening{opened, passive[host], failed[host]});
  } else if (const auto* expect = std::get_if<Expect>(&message)) {
    for (const Expected& what : expect->tries)
      state.expected[{what.probe, what.attempt}] = what;
    say(host, Expecting{expect->round});
  } else if (const auto* order = std::get_if<Dial>(&message)) {
    dials.push_back(*order);
    dial(host, *order);
  } else if (const auto* collect = std::get_if<Collect>(&message)) {
    for (const auto& [round, what] : std::exchange(state.pending, {}))
      say(host, evidence(host, round, what, End::Dialer, Outcome::Sent));
    say(host, Collected{collect->round, 0, std::exchange(state.lost, 0)});
  } else {
    say(host, Bye{});
  }
}

void FakeWorld::dial(const std::string& host, const Dial& dial) {
  const std::size_t pending_before = agents[host].pending.size();
  for (const DialTry& exchange : dial.tries)
    send_one(host, dial.round, exchange.what);
  if (agents[host].pending.size() == pending_before)
    say(host, Dialed{dial.round, dial.phase});
}

void FakeWorld::send_one(const std::string& host, std::uint32_t round, const Expected& what) {
  std::string target;
  for (const auto& [name, state] : agents) {
    if (name != enforcer && state.expected.contains({what.probe, what.attempt}))
      target = name;
  }
  const bool anchor = target == host || target.empty();
  if (anchor)
    target = target.empty() ? enforcer : target;
  const Fate end = what.probe.starts_with("c-") ? Fate::Delivered : fate(what);
  const auto enforcer_says = [&](Outcome outcome) {
    Evidence seen = evidence(enforcer, round, what, End::Enforcer, outcome);
    seen.table = "inet bulkhead";
    seen.chain = "c_x";
    seen.rule = rule;
    if (agents.contains(enforcer) && what.tuple.from != what.tuple.to)
      say(enforcer, seen);
  };
  if (end == Fate::Dropped) {
    enforcer_says(Outcome::Dropped);
    agents[host].pending.emplace_back(round, what);
    return;
  }
  if (end == Fate::Lost) {
    say(host, evidence(host, round, what, End::Dialer, Outcome::Timeout));
    return;
  }
  if (end != Fate::Bypass)
    enforcer_says(target == enforcer ? Outcome::Delivered : Outcome::Left);
  if (end == Fate::SynOnly) {
    say(target, evidence(target, round, what, End::Listener, Outcome::SynSeen));
    say(host, evidence(host, round, what, End::Dialer, Outcome::Timeout));
    return;
  }
  if (agents[target].dead) {
    say(host, evidence(host, round, what, End::Dialer, Outcome::Timeout));
    return;
  }
  say(target, evidence(target, round, what, End::Listener,
                       what.transport == compiler::Transport::Icmp ? Outcome::PacketSeen
                                                                   : Outcome::TokenSeen));
  Evidence answered = evidence(host, round, what, End::Dialer, Outcome::Answered);
  if (what.transport != compiler::Transport::Icmp)
    answered.answer = to_hex(answer_to(agents[target].hello.key, what.token));
  say(host, answered);
}

Evidence FakeWorld::evidence(const std::string& host, std::uint32_t round, const Expected& what,
                             End end, Outcome outcome) const {
  Evidence out;
  out.probe = what.probe;
  out.attempt = what.attempt;
  out.round = round;
  out.end = end;
  out.agent = host;
  out.run = "test";
  out.outcome = outcome;
  out.tuple = what.tuple;
  out.token = to_hex(what.token);
  return out;
}

}  // namespace bulkhead::probes
