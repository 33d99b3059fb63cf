#include "probes/fd_channel.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace bulkhead::probes {
namespace {

using std::chrono::steady_clock;
constexpr std::chrono::seconds kStall{30};
constexpr std::size_t kLongestLine = std::size_t{16} << 20;

// Poll until ready, 0 at the deadline.
int wait_for(int fd, short events, steady_clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now());
    pollfd entry{fd, events, 0};
    const int ready =
        ::poll(&entry, 1, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1'000'000)));
    if (ready > 0)
      return entry.revents;
    if (ready == 0 && steady_clock::now() >= deadline)
      return 0;
    if (ready < 0 && errno != EINTR)
      return POLLERR;
  }
}

}  // namespace

FdChannel::FdChannel(UniqueFd socket) : socket_(std::move(socket)) {
  ::fcntl(socket_.get(), F_SETFL, ::fcntl(socket_.get(), F_GETFL) | O_NONBLOCK);
}

Status FdChannel::send(std::string_view line) {
  if (line.size() >= kLongestLine)
    return fail(ErrorKind::Environment, "message longer than 16 MiB");
  std::string text(line);
  text += '\n';
  std::string_view left = text;
  auto deadline = steady_clock::now() + kStall;
  while (!left.empty()) {
    const ssize_t sent = ::send(socket_.get(), left.data(), left.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      left.remove_prefix(static_cast<std::size_t>(sent));
      deadline = steady_clock::now() + kStall;
      continue;
    }
    if (sent < 0 && errno == EINTR)
      continue;
    if (sent < 0 && errno != EAGAIN)
      return fail(ErrorKind::Environment, "the agent is gone");
    const int ready =
        wait_for(socket_.get(), static_cast<short>(closed_ ? POLLOUT : POLLOUT | POLLIN), deadline);
    if (ready == 0)
      return fail(ErrorKind::Timeout, "the agent takes no input for 30 s");
    if (ready & POLLIN) {
      if (const Status status = fill(); !status)
        return status;
    } else if (ready & (POLLERR | POLLHUP)) {
      return fail(ErrorKind::Environment, "the agent is gone");
    }
  }
  return {};
}

Status FdChannel::fill() {
  std::array<char, 65536> chunk;
  for (;;) {
    const ssize_t got = ::recv(socket_.get(), chunk.data(), chunk.size(), 0);
    if (got > 0) {
      if (taken_ > 0 && taken_ * 2 >= buffer_.size()) {
        buffer_.erase(0, taken_);
        scanned_ -= std::min(scanned_, taken_);
        taken_ = 0;
      }
      buffer_.append(chunk.data(), static_cast<std::size_t>(got));
      return {};
    }
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0 && errno == EAGAIN)
      return {};
    // End of stream, or a reset where the child died with our bytes unread: the same to us.
    closed_ = true;
    return {};
  }
}

bool FdChannel::has_line() const {
  return buffer_.find('\n', std::max(taken_, scanned_)) != std::string::npos;
}

std::string FdChannel::take_line(std::size_t newline) {
  std::string line = buffer_.substr(taken_, newline - taken_);
  taken_ = newline + 1;
  return line;
}

Result<std::string> FdChannel::receive(steady_clock::time_point deadline) {
  for (;;) {
    const std::size_t newline = buffer_.find('\n', std::max(taken_, scanned_));
    if (newline != std::string::npos)
      return take_line(newline);
    scanned_ = buffer_.size();
    if (closed_) {
      return fail(ErrorKind::Environment, buffer_.size() > taken_
                                              ? "the agent is gone in the middle of a line"
                                              : "the agent is gone");
    }
    if (buffer_.size() - taken_ > kLongestLine)
      return fail(ErrorKind::Environment, "the agent sent a line longer than 16 MiB");
    if (wait_for(socket_.get(), POLLIN, deadline) == 0)
      return fail(ErrorKind::Timeout, "no word from the agent in time");
    if (const Status status = fill(); !status)
      return fail(status.error());
  }
}

}  // namespace bulkhead::probes
