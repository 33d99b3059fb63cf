// What TCP's and UDP's dialers share: a connected socket for each try, watched until the try is
// over. `Try` is a Watcher with `so_far()`, how far it came when nothing more is waited for.
#pragma once

#include <cerrno>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "probes/transports/socket_tools.h"

namespace bulkhead::probes {

template <class Try>
class SocketDialer : public Dialer {
 public:
  SocketDialer(EventLoop& loop, DialSink& sink) : loop_(loop), sink_(sink) {}

  void start(TryId id, const DialTry& what) final {
    if (auto ending = open(id, what))
      sink_.ended(id, *std::move(ending));
  }
  Ending give_up(TryId id) final {
    const Ending ending = tries_.at(id)->so_far();
    remove(id);
    return ending;
  }
  void finish(TryId id, Ending ending) {
    remove(id);
    sink_.ended(id, std::move(ending));
  }

 protected:
  // None: under way, and kept.
  virtual std::optional<Ending> open(TryId id, const DialTry& what) = 0;

  std::optional<Ending> keep(TryId id, std::unique_ptr<Try> dial, int fd, std::uint32_t events) {
    if (const Status status = loop_.watch(fd, events, *dial); !status)
      return setup_failed("epoll_ctl", errno);
    tries_.emplace(id, std::move(dial));
    return std::nullopt;
  }
  // After sending of a kept try by a socket that says when a rule of this very host refuses it
  // (EPERM). Where this host is an enforcer a trace tells more, so that try goes on.
  std::optional<Ending> after_send(TryId id, ssize_t sent) {
    if (sent >= 0)
      return std::nullopt;
    if (errno == EPERM) {
      tries_.at(id)->refused_locally = EPERM;
      return std::nullopt;
    }
    Ending failed = send_failed("send", errno);
    remove(id);
    return failed;
  }
  // Nothing is heard of it: it lasts until it is given up.
  void keep_unwatched(TryId id, std::unique_ptr<Try> dial) { tries_.emplace(id, std::move(dial)); }
  void remove(TryId id) {
    const auto found = tries_.find(id);
    loop_.forget(*found->second);
    tries_.erase(found);
  }

 private:
  EventLoop& loop_;
  DialSink& sink_;
  std::unordered_map<TryId, std::unique_ptr<Try>> tries_;
};

}  // namespace bulkhead::probes
