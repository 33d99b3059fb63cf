// The operator's side of one conversation, for tests: says one message, waits for its answer, keeps
// all evidence on the way.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "probes/launcher.h"
#include "probes/message.h"

namespace bulkhead::test {

// A fresh token and the next source port of this process.
[[nodiscard]] probes::DialTry try_of(compiler::Transport transport, const char* from,
                                     const char* to, std::uint16_t port, std::uint16_t size = 0);
[[nodiscard]] std::vector<probes::Expected> expected_of(const std::vector<probes::DialTry>& tries);

class Peer {
 public:
  Peer(probes::Launcher& launcher, const std::string& host, bool enforcer = false);

  [[nodiscard]] const probes::Facts& facts() const { return facts_; }
  [[nodiscard]] const std::array<std::uint8_t, 32>& key() const { return key_; }
  probes::Listening listen(const std::vector<probes::Listener>& listeners);
  void expect(const std::vector<probes::DialTry>& tries);
  void start_dial(const std::vector<probes::DialTry>& tries,
                  std::chrono::milliseconds timeout = std::chrono::milliseconds(400),
                  std::uint32_t pps = 0);
  void finish_dial();
  // start_dial and finish_dial.
  void dial(const std::vector<probes::DialTry>& tries,
            std::chrono::milliseconds timeout = std::chrono::milliseconds(400));
  probes::Collected collect();
  void stop();

  // What was said of one try so far.
  [[nodiscard]] std::vector<probes::Evidence> of(const probes::DialTry& one) const;
  // The only such evidence; fails the test, and gives an empty one, where there is not exactly one.
  [[nodiscard]] probes::Evidence only(const probes::DialTry& one) const;
  [[nodiscard]] bool saw(const probes::DialTry& one, probes::Outcome outcome) const;
  [[nodiscard]] const std::vector<probes::Evidence>& evidence() const { return evidence_; }

  Status send(const probes::ToAgent& message) {
    return agent_->channel().send(to_json_line(message));
  }
  Result<probes::FromAgent> next(std::chrono::milliseconds patience);
  probes::AgentProcess& process() { return *agent_; }
  void kill();

 private:
  template <class Message>
  Message await();

  std::unique_ptr<probes::AgentProcess> agent_;
  probes::Facts facts_;
  std::array<std::uint8_t, 32> key_{};
  std::vector<probes::Evidence> evidence_;
};

}  // namespace bulkhead::test
