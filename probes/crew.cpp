#include "probes/crew.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>

namespace bulkhead::probes {
namespace {

using namespace std::chrono_literals;

// How long a poll may last before `stop` is looked at.
constexpr auto kHeartbeat = 100ms;

// Lines that a login script may write before the agent's first.
constexpr std::size_t kMostNoise = 200;

const auto kNobody = [](const std::string&, const Evidence&) {};

template <class Message>
bool is(const std::string&, const FromAgent& message) {
  return std::holds_alternative<Message>(message);
}

}  // namespace

Crew::Crew(Launcher& launcher, CrewOptions options)
    : launcher_(launcher), options_(std::move(options)) {}

void Crew::start(const std::map<std::string, std::vector<std::string>>& nics_by_host,
                 const std::set<std::string>& enforcers) {
  auto all = nics_by_host;
  for (const std::string& member : enforcers)
    all.try_emplace(member);
  std::set<std::string> greeted;
  for (const auto& [host, nics] : all) {
    if (stopped())
      return;
    Member& member = members_[host];
    auto process = launcher_.launch(host);
    if (!process) {
      bury(host, process.error().message);
      continue;
    }
    member.process = *std::move(process);
    member.key = random_key();
    send(host, Hello{options_.run, host, member.key, enforcers.contains(host), nics});
    greeted.insert(host);
  }
  await(greeted, Clock::now() + options_.patience, is<Ready>, kNobody);
}

void Crew::listen(const std::map<std::string, std::vector<Listener>>& by_host) {
  std::set<std::string> asked;
  for (const auto& [host, listeners] : by_host) {
    send(host, Listen{listeners});
    asked.insert(host);
  }
  await(asked, Clock::now() + options_.patience, is<Listening>, kNobody);
}

void Crew::stop() {
  std::set<std::string> told;
  for (const auto& [host, member] : members_) {
    send(host, Stop{});
    told.insert(host);
  }
  // An agent that does not say goodbye is ended by its owner; that is no news any more.
  const auto deadline = Clock::now() + 2s;
  while (!told.empty() && Clock::now() < deadline && !stopped()) {
    std::erase_if(told, [&](const std::string& host) { return !alive(host); });
    if (const auto said = next(std::min(deadline, Clock::now() + kHeartbeat)); said)
      told.erase(said->host);
  }
  for (auto& [host, member] : members_)
    member.process.reset();
}

bool Crew::alive(const std::string& host) const {
  const auto found = members_.find(host);
  return found != members_.end() && found->second.death.empty() && found->second.process;
}

bool Crew::any_alive() const {
  return !living().empty();
}

std::set<std::string> Crew::living() const {
  std::set<std::string> hosts;
  for (const auto& [host, member] : members_) {
    if (alive(host))
      hosts.insert(host);
  }
  return hosts;
}

std::vector<std::string> Crew::deaths() const {
  std::vector<std::string> out;
  for (const auto& [host, member] : members_) {
    if (!member.death.empty())
      out.push_back(host + ": " + member.death);
  }
  return out;
}

std::map<std::string, Facts> Crew::facts() const {
  std::map<std::string, Facts> out;
  for (const auto& [host, member] : members_) {
    if (member.process)
      out.emplace(host, member.facts);
  }
  return out;
}

const AgentKey& Crew::key(const std::string& host) const {
  static const AgentKey nobody{};
  const auto found = members_.find(host);
  return found == members_.end() ? nobody : found->second.key;
}

std::optional<Mac> Crew::mac(const std::string& host, const std::string& nic) const {
  if (!alive(host))
    return std::nullopt;
  const Facts& facts = members_.at(host).facts;
  for (std::size_t i = 0; i < std::min(facts.interfaces.size(), facts.macs.size()); ++i) {
    if (facts.interfaces[i] == nic && facts.macs[i] != Mac{})
      return facts.macs[i];
  }
  return std::nullopt;
}

std::vector<Mac> Crew::macs(const std::string& host) const {
  const auto found = members_.find(host);
  std::vector<Mac> all = found == members_.end() ? std::vector<Mac>{} : found->second.facts.macs;
  std::erase(all, Mac{});
  return all;
}

const Crew::Trouble* Crew::trouble(const std::string& host, const Listener& listener) const {
  const auto member = members_.find(host);
  if (member == members_.end())
    return nullptr;
  const auto found =
      member->second.troubles.find({listener.transport, listener.address, listener.port});
  return found == member->second.troubles.end() ? nullptr : &found->second;
}

void Crew::send(const std::string& host, const ToAgent& message) {
  if (!alive(host))
    return;
  if (const Status sent = members_.at(host).process->channel().send(to_json_line(message)); !sent)
    bury(host, sent.error().message);
}

bool Crew::await(std::set<std::string> waiting, Clock::time_point deadline,
                 const IsAnswer& is_answer, const Take& take, const std::function<bool()>& enough) {
  const auto drop_dead = [&] {
    std::erase_if(waiting, [&](const std::string& host) { return !alive(host); });
  };
  for (drop_dead(); !waiting.empty() && !(enough && enough()); drop_dead()) {
    if (stopped())
      return false;
    const auto now = Clock::now();
    if (now >= deadline)
      break;
    auto said = next(std::min(deadline, now + kHeartbeat));
    if (!said)
      continue;
    if (auto* evidence = std::get_if<Evidence>(&said->message))
      take(said->host, std::move(*evidence));
    else if (is_answer(said->host, said->message))
      waiting.erase(said->host);
  }
  if (!(enough && enough())) {
    for (const std::string& host : waiting)
      bury(host, "it did not answer in time");
  }
  return !stopped();
}

bool Crew::linger(std::chrono::milliseconds time, const Take& take) {
  const auto deadline = Clock::now() + time;
  while (!stopped() && Clock::now() < deadline) {
    auto said = next(deadline);
    if (!said)
      break;
    if (auto* evidence = std::get_if<Evidence>(&said->message))
      take(said->host, std::move(*evidence));
  }
  return !stopped();
}

void Crew::bury(const std::string& host, const std::string& reason) {
  Member& member = members_[host];
  if (!member.death.empty())
    return;
  const std::string last_words = member.process ? member.process->stderr_tail() : std::string();
  member.death = last_words.empty() ? reason : fmt::format("{} ({})", reason, last_words);
}

void Crew::remember(Member& member, const FromAgent& message) {
  if (const auto* ready = std::get_if<Ready>(&message)) {
    member.ready = true;
    member.facts = ready->facts;
  }
  if (const auto* listening = std::get_if<Listening>(&message)) {
    const auto note = [&](const std::vector<Listening::Other>& others, bool passive) {
      for (const auto& [listener, reason] : others)
        member.troubles[{listener.transport, listener.address, listener.port}] = {passive, reason};
    };
    note(listening->passive, true);
    note(listening->failed, false);
  }
}

std::optional<Crew::Said> Crew::next(Clock::time_point deadline) {
  for (;;) {
    while (!readable_.empty()) {
      const std::string host = readable_.back();
      Member& member = members_.at(host);
      // One agent's lines are read to the end of its buffer before the next poll.
      if (!alive(host)) {
        readable_.pop_back();
        continue;
      }
      auto said = read_line(host, Clock::now());
      if (!said || !member.process->channel().has_line())
        readable_.pop_back();
      if (said)
        return said;
    }
    if (!wait_readable(deadline, readable_))
      return std::nullopt;
  }
}

std::optional<Crew::Said> Crew::read_line(const std::string& host, Clock::time_point deadline) {
  Member& member = members_.at(host);
  auto line = member.process->channel().receive(deadline);
  if (!line) {
    if (line.error().kind == ErrorKind::Timeout)
      return std::nullopt;  // half a line so far
    bury(host, line.error().message);
    return Said{host, Failed{member.death}};
  }
  auto message = from_agent_from_json(*line);
  if (!message) {
    if (const auto version = stranger_version(*line)) {
      bury(host,
           fmt::format("it is bulkhead-agent version {}, and this bulkhead is {}: install the "
                       "same version on both ({})",
                       *version, BULKHEAD_VERSION, message.error().message));
      return Said{host, Failed{member.death}};
    }
  }
  // A remote login script may speak before the agent does; the agent itself never before it is
  // asked.
  if (!message && !member.ready && member.noise < kMostNoise) {
    ++member.noise;
    return std::nullopt;
  }
  if (!message) {
    bury(host, "it does not speak our language: " + message.error().message);
    return Said{host, Failed{member.death}};
  }
  if (const auto* failed = std::get_if<Failed>(&*message))
    bury(host, failed->reason);
  remember(member, *message);
  return Said{host, *std::move(message)};
}

bool Crew::wait_readable(Clock::time_point deadline, std::vector<std::string>& readable) {
  std::vector<pollfd> fds;
  std::vector<std::string> hosts;
  for (const auto& [host, member] : members_) {
    if (!alive(host))
      continue;
    Channel& channel = member.process->channel();
    if (channel.has_line())
      readable.push_back(host);
    fds.push_back({channel.poll_fd(), POLLIN, 0});  // a negative one is ignored
    hosts.push_back(host);
  }
  if (!readable.empty())
    return true;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  if (::poll(fds.data(), fds.size(), static_cast<int>(std::clamp<long>(left, 0, 60000))) <= 0)
    return false;
  for (std::size_t i = 0; i < fds.size(); ++i) {
    if (fds[i].revents != 0)
      readable.push_back(hosts[i]);
  }
  return true;
}

}  // namespace bulkhead::probes
