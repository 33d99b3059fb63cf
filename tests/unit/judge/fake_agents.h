// A world of scripted agents behind the conductor's own interfaces: launcher, channels, PathWatch.
// The agents speak the real messages; what becomes of a packet is the test's to say.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "probes/conduct.h"
#include "probes/identity.h"

namespace bulkhead::probes {

enum class Fate {
  Delivered,  // seen by the enforcer, read and answered by the listener
  Dropped,    // by the planned rule; the dialer hears nothing
  Lost,       // nobody sees anything more
  SynOnly,    // arrives at the NIC, is never answered
  Bypass,     // delivered, but no enforcer saw it
};

struct FakeWorld {
  // Tests replace these.
  std::function<Fate(const Expected&)> fate;
  std::function<void(const std::string& host, const ToAgent&)> on_message = [](auto&, auto&) {};
  std::map<std::string, Facts> facts;
  std::map<std::string, std::vector<Listening::Other>> passive, failed;
  std::set<std::string> unlaunchable, mute;  // mute: lives, but says nothing
  std::string rule = "default";
  std::string enforcer = "fw";

  // What agents share.
  struct State {
    Hello hello;
    bool dead = false;
    std::deque<std::string> lines;  // to the operator
    std::map<std::pair<std::string, std::uint32_t>, Expected> expected;
    std::vector<std::pair<std::uint32_t, Expected>> pending;  // dialled, nothing heard yet
    std::uint64_t lost = 0;
  };
  std::map<std::string, State> agents;
  std::vector<Dial> dials;

  void kill(const std::string& host) { agents[host].dead = true; }
  void say(const std::string& host, const FromAgent& message) {
    if (!agents[host].dead && !mute.contains(host))
      agents[host].lines.push_back(to_json_line(message));
  }
  void take(const std::string& host, const ToAgent& message);

 private:
  void dial(const std::string& host, const Dial& dial);
  void send_one(const std::string& host, std::uint32_t round, const Expected& what);
  Evidence evidence(const std::string& host, std::uint32_t round, const Expected& what, End end,
                    Outcome outcome) const;
};

class FakeLauncher final : public Launcher {
 public:
  explicit FakeLauncher(FakeWorld& world) : world_(world) {}
  Result<std::unique_ptr<AgentProcess>> launch(const std::string& host) override;

 private:
  FakeWorld& world_;
};

class FakeWatch final : public PathWatch {
 public:
  std::function<std::string(const std::string& member)> on_mark = [](auto&) { return "same"; };
  std::vector<std::size_t> armed;  // tries, by round
  bool disarmed = false;

  Status arm(const std::vector<Expected>& tries) override {
    armed.push_back(tries.size());
    return {};
  }
  Result<std::string> mark(const std::string& member) override { return on_mark(member); }
  void name_rule(Evidence&) override {}
  Status disarm() override {
    disarmed = true;
    return {};
  }
};

}  // namespace bulkhead::probes
