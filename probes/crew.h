// The agents of one run: started, greeted, listening, and spoken with over all their channels at
// once. An agent that dies or falls silent is remembered with its reason; nothing that needed it is
// ever taken for an answer.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "probes/identity.h"
#include "probes/launcher.h"
#include "probes/message.h"

namespace bulkhead::probes {

struct CrewOptions {
  std::string run;
  std::chrono::milliseconds patience{15000};  // for an answer that needs no packets
  const std::atomic<bool>* stop = nullptr;    // set: waiting ends at once
  std::optional<std::chrono::steady_clock::time_point> deadline{};  // so it does from then on
};

class Crew {
 public:
  using Clock = std::chrono::steady_clock;

  Crew(Launcher& launcher, CrewOptions options);

  // Starts an agent on each host, which is told what its NICs are, and waits until all are ready.
  // `enforcers` also trace. Hosts whose agent does not start are known as dead afterwards.
  void start(const std::map<std::string, std::vector<std::string>>& nics_by_host,
             const std::set<std::string>& enforcers);
  // The barrier: returns when every living agent has opened its listeners or said why not.
  void listen(const std::map<std::string, std::vector<Listener>>& by_host);
  void stop();

  [[nodiscard]] bool alive(const std::string& host) const;
  [[nodiscard]] bool any_alive() const;
  [[nodiscard]] std::set<std::string> living() const;
  // Why an agent is dead: "r1g01: ...".
  [[nodiscard]] std::vector<std::string> deaths() const;
  [[nodiscard]] std::map<std::string, Facts> facts() const;
  [[nodiscard]] const AgentKey& key(const std::string& host) const;
  // None: no such interface, or its agent is not there to say.
  [[nodiscard]] std::optional<Mac> mac(const std::string& host, const std::string& nic) const;
  // Of all NICs of the host, as far as its agent says.
  [[nodiscard]] std::vector<Mac> macs(const std::string& host) const;
  // Empty: opened by us. Else why not; `passive`: a real service holds it.
  struct Trouble {
    bool passive = false;
    std::string reason;
  };
  [[nodiscard]] const Trouble* trouble(const std::string& host, const Listener& listener) const;

  // To a dead agent: nothing.
  void send(const std::string& host, const ToAgent& message);

  // Reads what comes until each of `waiting` has said a message that `is_answer` accepts, has died,
  // or the deadline is over; evidence of any agent goes to `take` as it comes. Those that did not
  // answer in time are dead from then on. `enough`, when given, ends the wait early, without blame.
  // False: `stop` was set, or the crew's own deadline has come.
  using IsAnswer = std::function<bool(const std::string& host, const FromAgent&)>;
  using Take = std::function<void(const std::string& host, Evidence)>;
  bool await(std::set<std::string> waiting, Clock::time_point deadline, const IsAnswer& is_answer,
             const Take& take, const std::function<bool()>& enough = {});
  // Reads for a while, whatever comes.
  bool linger(std::chrono::milliseconds time, const Take& take);

 private:
  struct Member {
    std::unique_ptr<AgentProcess> process;
    AgentKey key{};
    Facts facts;
    std::string death;  // empty: alive
    bool ready = false;
    std::size_t noise = 0;  // lines before that
    std::map<std::tuple<compiler::Transport, Address, std::uint16_t>, Trouble> troubles;
  };
  struct Said {
    std::string host;
    FromAgent message;
  };

  [[nodiscard]] bool stopped() const {
    return (options_.stop && options_.stop->load()) ||
           (options_.deadline && Clock::now() >= *options_.deadline);
  }
  void bury(const std::string& host, const std::string& reason);
  void remember(Member& member, const FromAgent& message);
  // What some agent said; none when nothing came until `deadline`. A death is said as Failed.
  std::optional<Said> next(Clock::time_point deadline);
  std::optional<Said> read_line(const std::string& host, Clock::time_point deadline);
  bool wait_readable(Clock::time_point deadline, std::vector<std::string>& readable);

  Launcher& launcher_;
  CrewOptions options_;
  std::map<std::string, Member> members_;
  std::vector<std::string> readable_;  // to be read before the next poll
};

}  // namespace bulkhead::probes
