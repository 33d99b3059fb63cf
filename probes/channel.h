// A two-way stream of lines to one agent, whatever carries it (a socket pair now, ssh's pipes; a
// broker later).
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "policy/support/result.h"

namespace bulkhead::probes {

class Channel {
 public:
  virtual ~Channel() = default;
  // Queues and writes one line (newline added). Fails when the peer is gone.
  virtual Status send(std::string_view line) = 0;
  // Next line without its newline. Timeout error at the deadline; Environment error when the peer
  // closed or died; what arrived half (no newline before the end) is never returned.
  virtual Result<std::string> receive(std::chrono::steady_clock::time_point deadline) = 0;
  // For poll(2): readable when receive may make progress. -1: none.
  [[nodiscard]] virtual int poll_fd() const = 0;
  // Bytes already buffered that hold a whole line.
  [[nodiscard]] virtual bool has_line() const = 0;
};

}  // namespace bulkhead::probes
