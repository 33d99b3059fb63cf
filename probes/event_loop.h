// The agent's only thread: epoll and one-shot timers. Not thread-safe, not re-entrant.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "policy/support/handle.h"
#include "policy/support/result.h"

namespace bulkhead::probes {

// What is told when a file descriptor is ready. Whoever destroys one calls EventLoop::forget first.
class Watcher {
 public:
  virtual void on_ready(std::uint32_t events) = 0;

 protected:
  ~Watcher() = default;
};

class EventLoop {
 public:
  using Clock = std::chrono::steady_clock;

  EventLoop();

  // `events` as for epoll_ctl(2). `fd` stays the caller's; closing it ends the registration.
  Status watch(int fd, std::uint32_t events, Watcher& watcher);
  Status change(int fd, std::uint32_t events, Watcher& watcher);
  // No event already fetched from the kernel will reach `watcher` any more.
  void forget(const Watcher& watcher);

  // Cannot be cancelled: `action` checks whether there is still something to do.
  void at(Clock::time_point when, std::function<void()> action);

  // Waits for `longest` at most, handles what is ready and due, and says how much that was.
  std::size_t run_once(std::chrono::milliseconds longest);

 private:
  struct Timer {
    Clock::time_point when;
    std::uint64_t order;  // equal times: first come, first served
    std::function<void()> action;
    bool operator<(const Timer& other) const {
      return std::pair(when, order) > std::pair(other.when, other.order);
    }
  };

  UniqueFd epoll_;
  std::priority_queue<Timer> timers_;
  std::uint64_t timer_order_ = 0;
  std::array<epoll_event, 256> ready_{};
  std::size_t ready_next_ = 0, ready_end_ = 0;  // the part of ready_ not handled yet
};

}  // namespace bulkhead::probes
