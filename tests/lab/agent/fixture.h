// A pod with agents on client and server, for tests of the agent. The pod stands for a whole suite,
// its rules and agents are new for each test.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "tests/lab/agent/peer.h"
#include "tests/lab/agent/pod.h"

namespace bulkhead::test {

using compiler::Transport;
using namespace probes;
using namespace std::chrono_literals;

inline constexpr const char* kClient[] = {"10.1.0.2", "fd01::2"};
inline constexpr const char* kServer[] = {"10.2.0.2", "fd02::2"};
inline constexpr const char* kRouter[] = {"10.1.0.1", "fd01::1"};

class AgentTest : public ::testing::Test {
 protected:
  static void TearDownTestSuite() { pod_ = nullptr; }

  void SetUp() override {
    if (const std::string why = Pod::why_not(); !why.empty())
      GTEST_SKIP() << why;
    if (pod_)
      pod_->forget_rules();
    else
      pod_ = std::make_unique<Pod>();
    launcher_ = netns_launcher(BULKHEAD_BINARY_DIR "/bin/bulkhead-agent",
                               [](const std::string& host) { return pod_->netns_path(host); });
    client_ = std::make_unique<Peer>(*launcher_, "client");
    server_ = std::make_unique<Peer>(*launcher_, "server");
  }
  // Of a test that changed more of the pod than its rules: the next one gets another.
  static void spoil_pod() { spoiled_ = true; }
  void TearDown() override {
    client_ = nullptr;
    server_ = nullptr;
    router_ = nullptr;
    if (std::exchange(spoiled_, false))
      pod_ = nullptr;
  }

  // Both families of a transport towards the server's port.
  static std::vector<DialTry> tries_to(Transport transport, std::uint16_t port,
                                       std::uint16_t size = 0) {
    return {try_of(transport, kClient[0], kServer[0], port, size),
            try_of(transport, kClient[1], kServer[1], port, size)};
  }
  // The same by TCP, then by UDP.
  static std::vector<DialTry> tcp_and_udp_to(std::uint16_t port) {
    auto tries = tries_to(Transport::Tcp, port);
    for (const DialTry& one : tries_to(Transport::Udp, port))
      tries.push_back(one);
    return tries;
  }
  void listen_on(Transport transport, std::uint16_t port) {
    const auto listening = server_->listen(
        {{transport, address(kServer[0]), port}, {transport, address(kServer[1]), port}});
    EXPECT_EQ(listening.opened, 2U);
  }
  void exchange(const std::vector<DialTry>& tries, std::chrono::milliseconds timeout = 400ms) {
    server_->expect(tries);
    if (router_)
      router_->expect(tries);
    client_->dial(tries, timeout);
    server_->collect();
    if (router_)
      router_->collect();
  }
  void trace() {
    pod_->trace();
    router_ = std::make_unique<Peer>(*launcher_, "router", true);
  }

  inline static std::unique_ptr<Pod> pod_;
  inline static bool spoiled_ = false;
  std::unique_ptr<Launcher> launcher_;
  std::unique_ptr<Peer> client_, server_, router_;
};

}  // namespace bulkhead::test
