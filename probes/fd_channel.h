// A Channel over one connected stream socket: the parent's end of a child's stdin and stdout.
#pragma once

#include "policy/support/handle.h"
#include "probes/channel.h"

namespace bulkhead::probes {

class FdChannel : public Channel {
 public:
  explicit FdChannel(UniqueFd socket);

  // Reads whatever arrives while it waits for room, so that two ends that both have much to say
  // never wait for each other. Timeout error where the peer takes nothing for 30 s.
  Status send(std::string_view line) override;
  Result<std::string> receive(std::chrono::steady_clock::time_point deadline) override;
  [[nodiscard]] int poll_fd() const override { return socket_.get(); }
  [[nodiscard]] bool has_line() const override;

 private:
  Status fill();  // one read; peer gone: closed_ is set
  std::string take_line(std::size_t newline);

  UniqueFd socket_;
  std::string buffer_;
  std::size_t taken_ = 0;    // bytes of buffer_ already handed out
  std::size_t scanned_ = 0;  // bytes of buffer_ known to hold no further newline
  bool closed_ = false;
};

}  // namespace bulkhead::probes
