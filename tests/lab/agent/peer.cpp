#include "tests/lab/agent/peer.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <random>

#include "probes/identity.h"
#include "tests/lab/agent/pod.h"

namespace bulkhead::test {

using namespace probes;
using namespace std::chrono_literals;

DialTry try_of(compiler::Transport transport, const char* from, const char* to, std::uint16_t port,
               std::uint16_t size) {
  static std::uint16_t sport = 20000;
  static std::uint32_t number = 0;
  static std::random_device random;
  DialTry one;
  one.what.probe = "p-" + std::to_string(++number);
  one.what.transport = transport;
  one.what.tuple = {address(from), ++sport, address(to), port};
  for (std::uint8_t& byte : one.what.token)
    byte = static_cast<std::uint8_t>(random());
  one.size = size;
  return one;
}

std::vector<Expected> expected_of(const std::vector<DialTry>& tries) {
  std::vector<Expected> out;
  for (const DialTry& one : tries)
    out.push_back(one.what);
  return out;
}

Peer::Peer(Launcher& launcher, const std::string& host, bool enforcer) : key_(random_key()) {
  auto agent = launcher.launch(host);
  if (!agent) {
    ADD_FAILURE() << agent.error().message;
    throw std::runtime_error("no agent");
  }
  agent_ = *std::move(agent);
  EXPECT_TRUE(send(Hello{"test", host, key_, enforcer}));
  facts_ = await<Ready>().facts;
}

Result<FromAgent> Peer::next(std::chrono::milliseconds patience) {
  const auto line = agent_->channel().receive(std::chrono::steady_clock::now() + patience);
  if (!line)
    return fail(line.error());
  return from_agent_from_json(*line);
}

template <class Message>
Message Peer::await() {
  for (;;) {
    auto message = next(30s);
    if (!message) {
      ADD_FAILURE() << message.error().message << " " << agent_->stderr_tail();
      return {};
    }
    if (auto* evidence = std::get_if<Evidence>(&*message)) {
      evidence_.push_back(std::move(*evidence));
    } else if (auto* wanted = std::get_if<Message>(&*message)) {
      return std::move(*wanted);
    } else {
      ADD_FAILURE() << "another answer: " << to_json_line(*message);
      return {};
    }
  }
}

Listening Peer::listen(const std::vector<Listener>& listeners) {
  EXPECT_TRUE(send(Listen{listeners}));
  return await<Listening>();
}

void Peer::expect(const std::vector<DialTry>& tries) {
  EXPECT_TRUE(send(Expect{1, expected_of(tries)}));
  await<Expecting>();
}

void Peer::start_dial(const std::vector<DialTry>& tries, std::chrono::milliseconds timeout,
                      std::uint32_t pps) {
  EXPECT_TRUE(send(Dial{1, Phase::Main, pps, timeout, tries}));
}

void Peer::finish_dial() {
  await<Dialed>();
}

void Peer::dial(const std::vector<DialTry>& tries, std::chrono::milliseconds timeout) {
  start_dial(tries, timeout);
  finish_dial();
}

Collected Peer::collect() {
  EXPECT_TRUE(send(Collect{1}));
  return await<Collected>();
}

void Peer::stop() {
  EXPECT_TRUE(send(Stop{}));
  await<Bye>();
}

void Peer::kill() {
  ::kill(agent_->pid(), SIGKILL);
}

std::vector<Evidence> Peer::of(const DialTry& one) const {
  std::vector<Evidence> out;
  std::copy_if(evidence_.begin(), evidence_.end(), std::back_inserter(out),
               [&](const Evidence& evidence) { return evidence.probe == one.what.probe; });
  return out;
}

Evidence Peer::only(const DialTry& one) const {
  auto all = of(one);
  EXPECT_EQ(all.size(), 1U) << one.what.probe;
  return all.size() == 1 ? all.front() : Evidence{};
}

bool Peer::saw(const DialTry& one, Outcome outcome) const {
  const auto all = of(one);
  return std::any_of(all.begin(), all.end(),
                     [&](const Evidence& evidence) { return evidence.outcome == outcome; });
}

}  // namespace bulkhead::test
