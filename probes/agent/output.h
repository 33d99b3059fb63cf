// The agent's standard output: lines in order, never blocking, so that a slow operator does not
// stop the agent from reading its sockets.
#pragma once

#include <string>
#include <string_view>

#include "probes/event_loop.h"

namespace bulkhead::probes {

class Output final : public Watcher {
 public:
  Output(EventLoop& loop, int fd);
  void line(std::string_view text);
  // Writes what the peer takes now; the rest follows when it takes more.
  void flush();
  // Waits for the peer, for the last words before the agent ends.
  void flush_all();
  [[nodiscard]] bool broken() const { return broken_; }

  void on_ready(std::uint32_t events) override;

 private:
  EventLoop& loop_;
  int fd_;
  std::string pending_;
  std::size_t written_ = 0;  // bytes of pending_
  bool watching_ = false;
  bool broken_ = false;
};

}  // namespace bulkhead::probes
