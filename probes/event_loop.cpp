#include "probes/event_loop.h"

#include <algorithm>
#include <cerrno>

namespace bulkhead::probes {

EventLoop::EventLoop() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}

Status EventLoop::watch(int fd, std::uint32_t events, Watcher& watcher) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = &watcher;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    return fail_errno("watch a file descriptor", errno);
  return {};
}

Status EventLoop::change(int fd, std::uint32_t events, Watcher& watcher) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = &watcher;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event) != 0)
    return fail_errno("watch a file descriptor", errno);
  return {};
}

void EventLoop::forget(const Watcher& watcher) {
  for (std::size_t i = ready_next_; i < ready_end_; ++i) {
    if (ready_[i].data.ptr == &watcher)
      ready_[i].data.ptr = nullptr;
  }
}

void EventLoop::at(Clock::time_point when, std::function<void()> action) {
  timers_.push({when, timer_order_++, std::move(action)});
}

std::size_t EventLoop::run_once(std::chrono::milliseconds longest) {
  auto wait = longest;
  if (!timers_.empty()) {
    const auto due =
        std::chrono::ceil<std::chrono::milliseconds>(timers_.top().when - Clock::now());
    wait = std::clamp(due, std::chrono::milliseconds(0), longest);
  }
  const int ready = ::epoll_wait(epoll_.get(), ready_.data(), static_cast<int>(ready_.size()),
                                 static_cast<int>(wait.count()));
  std::size_t handled = 0;
  ready_end_ = ready > 0 ? static_cast<std::size_t>(ready) : 0;
  for (ready_next_ = 0; ready_next_ < ready_end_;) {
    const epoll_event event = ready_[ready_next_++];
    if (auto* watcher = static_cast<Watcher*>(event.data.ptr)) {
      watcher->on_ready(event.events);
      ++handled;
    }
  }
  ready_end_ = 0;
  const auto now = Clock::now();
  while (!timers_.empty() && timers_.top().when <= now) {
    const auto action = timers_.top().action;
    timers_.pop();
    action();
    ++handled;
  }
  return handled;
}

}  // namespace bulkhead::probes
