#include "probes/agent/output.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace bulkhead::probes {

Output::Output(EventLoop& loop, int fd) : loop_(loop), fd_(fd) {
  ::fcntl(fd_, F_SETFL, ::fcntl(fd_, F_GETFL) | O_NONBLOCK);
}

void Output::line(std::string_view text) {
  pending_ += text;
  pending_ += '\n';
}

void Output::flush() {
  while (written_ < pending_.size() && !broken_) {
    const ssize_t wrote = ::write(fd_, pending_.data() + written_, pending_.size() - written_);
    if (wrote >= 0) {
      written_ += static_cast<std::size_t>(wrote);
    } else if (errno == EAGAIN) {
      // Edge-triggered and left in place: it only speaks when room comes back.
      if (!watching_)
        watching_ = loop_.watch(fd_, EPOLLOUT | EPOLLET, *this).has_value();
      break;
    } else if (errno != EINTR) {
      broken_ = true;
    }
  }
  if (written_ == pending_.size()) {
    pending_.clear();
    written_ = 0;
  } else if (written_ > pending_.size() / 2) {
    pending_.erase(0, written_);
    written_ = 0;
  }
}

void Output::flush_all() {
  constexpr int kPatience = 2000;  // milliseconds without progress
  for (flush(); !pending_.empty() && !broken_; flush()) {
    pollfd entry{fd_, POLLOUT, 0};
    if (::poll(&entry, 1, kPatience) <= 0)
      return;
  }
}

void Output::on_ready(std::uint32_t) {
  flush();
}

}  // namespace bulkhead::probes
