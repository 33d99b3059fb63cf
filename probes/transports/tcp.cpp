// TCP: the dialer connects from the planned address and port with the token's first bytes as
// initial sequence number, sends the token and reads the answer; both ends reset afterwards, so
// that nothing lingers in TIME_WAIT. A lone ACK belongs to no socket and is not answered.
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <tuple>
#include <vector>

#include "probes/transports/socket_dialer.h"
#include "probes/transports/whole_packet.h"
#include "probes/tuples.h"

namespace bulkhead::probes {
namespace {

// The sequence number of an unconnected socket can be set in repair mode, and survives leaving it
// (seen on 6.18). Without CAP_NET_ADMIN it stays random, and the SYN is known by its 5-tuple alone.
// Leaving with -1 asks for no window probe; it also resets SO_REUSEADDR.
void choose_initial_sequence(int fd, std::uint32_t sequence) {
  constexpr int kRepairOffNoProbe = -1;
  constexpr int kSendQueue = 2;
  const int on = 1;
  if (::setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &on, sizeof on) != 0)
    return;
  set_option(fd, IPPROTO_TCP, TCP_REPAIR_QUEUE, kSendQueue);
  ::setsockopt(fd, IPPROTO_TCP, TCP_QUEUE_SEQ, &sequence, sizeof sequence);
  set_option(fd, IPPROTO_TCP, TCP_REPAIR, kRepairOffNoProbe);
}

class TcpDialer;

class TcpTry final : public Watcher {
 public:
  TcpTry(TcpDialer& owner, TryId id, UniqueFd fd, const Token& token)
      : owner_(owner), id_(id), fd_(std::move(fd)), token_(token) {}
  void on_ready(std::uint32_t events) override;
  [[nodiscard]] Ending so_far() const;

 private:
  // None: still under way.
  std::optional<Ending> progress(std::uint32_t events);
  std::optional<Ending> read_reply();

  TcpDialer& owner_;
  TryId id_;
  UniqueFd fd_;
  Token token_;
  bool connected_ = false;
  WireAnswer reply_{};
  std::size_t reply_size_ = 0;
};

class TcpDialer final : public SocketDialer<TcpTry> {
 public:
  using SocketDialer::SocketDialer;

 private:
  std::optional<Ending> open(TryId id, const DialTry& what) override {
    const Tuple& tuple = what.what.tuple;
    if (what.what.payload == compiler::Payload::LoneAck)
      return send_past_sockets(id, what);
    UniqueFd fd = open_socket(tuple.from.family, SOCK_STREAM);
    if (!fd)
      return setup_failed("socket", errno);
    choose_initial_sequence(fd.get(), initial_sequence(what.what.token));
    reset_on_close(fd.get());
    if (auto failed = connect_as_planned(fd.get(), tuple)) {
      // Ports below are none that a schedule draws: the plan names one on purpose.
      if (failed->error == EADDRINUSE && tuple.sport < TupleSource::kFirst)
        return send_past_sockets(id, what);
      return failed;
    }
    const int raw_fd = fd.get();
    // Watched only now: an unconnected socket would report a hang-up. Edge-triggered saves a
    // second system call once connected.
    return keep(id, std::make_unique<TcpTry>(*this, id, std::move(fd), what.what.token), raw_fd,
                EPOLLIN | EPOLLOUT | EPOLLET);
  }
  // A listener of this host, ours or a service, holds the source port, or no connection would send
  // such a segment: it goes out past all sockets, and its arrival is all there is to see.
  std::optional<Ending> send_past_sockets(TryId id, const DialTry& what) {
    if (const int error = send_whole(what.what.tuple.from, what); error != 0 && error != EPERM)
      return send_failed("send a segment past all sockets", error);
    keep_unwatched(id, std::make_unique<TcpTry>(*this, id, UniqueFd(), what.what.token));
    return std::nullopt;
  }
};

Ending TcpTry::so_far() const {
  Ending ending;
  ending.outcome = connected_ ? Outcome::Accepted : Outcome::Timeout;
  return ending;
}

void TcpTry::on_ready(std::uint32_t events) {
  if (auto ending = progress(events))
    owner_.finish(id_, *std::move(ending));  // destroys this
}

std::optional<Ending> TcpTry::progress(std::uint32_t events) {
  if (events & EPOLLERR) {
    int error = 0;
    socklen_t length = sizeof error;
    ::getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &length);
    std::optional<IcmpError> icmp;
    while (const auto queued = take_queued_error(fd_.get()))
      icmp = queued->icmp;
    if (error != 0 && !connected_)
      return came_back(error, icmp);
    if (error != 0)
      return so_far();  // reset after the handshake
  }
  if (!connected_ && (events & EPOLLOUT)) {
    connected_ = true;
    // 16 bytes into an empty send buffer: all or an error.
    if (::send(fd_.get(), token_.data(), token_.size(), MSG_NOSIGNAL) < 0)
      return so_far();
  }
  return connected_ ? read_reply() : std::nullopt;
}

std::optional<Ending> TcpTry::read_reply() {
  for (;;) {
    const ssize_t got =
        ::recv(fd_.get(), reply_.data() + reply_size_, reply_.size() - reply_size_, 0);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0 && errno == EAGAIN)
      return std::nullopt;
    if (got <= 0)
      return so_far();
    reply_size_ += static_cast<std::size_t>(got);
    // Somebody else's service speaks first or answers otherwise: no need to wait for the deadline.
    if (std::memcmp(reply_.data(), token_.data(), std::min(reply_size_, token_.size())) != 0)
      return so_far();
    if (reply_size_ == reply_.size()) {
      Ending ending = so_far();
      ending.outcome = Outcome::Answered;
      ending.answer = read_answer(reply_, token_);
      return ending;
    }
  }
}

// --- listener ------------------------------------------------------------------------------------

class TcpAnswerer;

class Connection final : public Watcher {
 public:
  Connection(TcpAnswerer& owner, std::uint64_t serial, UniqueFd fd)
      : owner_(owner), serial_(serial), fd_(std::move(fd)) {}
  void on_ready(std::uint32_t events) override;

 private:
  // False: over. The answer is sent once; then the peer resets, or sends what nobody reads.
  bool serve();

  TcpAnswerer& owner_;
  std::uint64_t serial_;
  UniqueFd fd_;
  Token token_{};
  std::size_t token_size_ = 0;
};

class TcpPort final : public Watcher {
 public:
  TcpPort(TcpAnswerer& owner, UniqueFd fd) : owner_(owner), fd_(std::move(fd)) {}
  void on_ready(std::uint32_t events) override;

 private:
  TcpAnswerer& owner_;
  UniqueFd fd_;
};

class TcpAnswerer final : public Answerer {
 public:
  TcpAnswerer(EventLoop& loop, ArrivalSink& sink) : loop_(loop), sink_(sink) {}
  ~TcpAnswerer() override {
    for (const auto& port : ports_)
      loop_.forget(*port);
    for (const auto& [serial, connection] : connections_)
      loop_.forget(*connection);
  }
  TcpAnswerer(const TcpAnswerer&) = delete;
  TcpAnswerer& operator=(const TcpAnswerer&) = delete;

  Opened open(const Listener& listener) override;
  void accept_some(int listening_fd);
  std::optional<Token> arrived(const Token& token, int fd);
  void close(std::uint64_t serial) {
    const auto found = connections_.find(serial);
    loop_.forget(*found->second);
    connections_.erase(found);
  }

 private:
  // Strangers that connect and say nothing must not use up the descriptors: the oldest goes.
  static constexpr std::size_t kMostConnections = 4000;

  EventLoop& loop_;
  ArrivalSink& sink_;
  std::vector<std::unique_ptr<TcpPort>> ports_;
  std::map<std::uint64_t, std::unique_ptr<Connection>> connections_;  // oldest first
  std::uint64_t next_serial_ = 0;
};

Opened TcpAnswerer::open(const Listener& listener) {
  UniqueFd fd = open_socket(listener.address.family, SOCK_STREAM);
  if (!fd)
    return {OpenState::Failed, std::strerror(errno)};
  // Lets a restarted agent take its port back from sockets in TIME_WAIT; a live listener of
  // somebody else still refuses us.
  set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (listener.address.family == Family::V6)
    set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 1);
  reset_on_close(fd.get());  // accepted sockets inherit it
  const SocketAddress local = socket_address(listener.address, listener.port);
  if (::bind(fd.get(), local.get(), local.length) != 0 || ::listen(fd.get(), 4096) != 0) {
    const OpenState state = errno == EADDRINUSE ? OpenState::Passive : OpenState::Failed;
    return {state, std::strerror(errno)};
  }
  const int raw_fd = fd.get();
  auto port = std::make_unique<TcpPort>(*this, std::move(fd));
  if (const Status status = loop_.watch(raw_fd, EPOLLIN, *port); !status)
    return {OpenState::Failed, status.error().message};
  ports_.push_back(std::move(port));
  return {OpenState::Opened, {}};
}

void TcpPort::on_ready(std::uint32_t) {
  owner_.accept_some(fd_.get());
}

void TcpAnswerer::accept_some(int listening_fd) {
  for (int i = 0; i < 64; ++i) {
    UniqueFd accepted(::accept4(listening_fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    const bool exhausted = !accepted && (errno == EMFILE || errno == ENFILE);
    if ((exhausted || connections_.size() >= kMostConnections) && !connections_.empty())
      close(connections_.begin()->first);
    if (!accepted)
      return;
    const int raw_fd = accepted.get();
    const std::uint64_t serial = next_serial_++;
    auto connection = std::make_unique<Connection>(*this, serial, std::move(accepted));
    if (!loop_.watch(raw_fd, EPOLLIN | EPOLLRDHUP, *connection))
      continue;
    Connection& fresh = *connection;
    connections_.emplace(serial, std::move(connection));
    fresh.on_ready(EPOLLIN);  // the token is often here already
  }
}

std::optional<Token> TcpAnswerer::arrived(const Token& token, int fd) {
  SocketAddress local;
  SocketAddress remote;
  ::getsockname(fd, local.get(), &local.length);
  ::getpeername(fd, remote.get(), &remote.length);
  Tuple tuple;
  std::tie(tuple.from, tuple.sport) = from_socket_address(remote);
  std::tie(tuple.to, tuple.port) = from_socket_address(local);
  return sink_.arrived(compiler::Transport::Tcp, token, tuple);
}

void Connection::on_ready(std::uint32_t) {
  if (!serve())
    owner_.close(serial_);  // destroys this
}

bool Connection::serve() {
  for (;;) {
    std::array<std::uint8_t, 256> beyond;
    const bool complete = token_size_ == token_.size();
    std::uint8_t* const target = complete ? beyond.data() : token_.data() + token_size_;
    const std::size_t room = complete ? beyond.size() : token_.size() - token_size_;
    const ssize_t got = ::recv(fd_.get(), target, room, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
      return true;
    if (got <= 0)
      return false;
    if (complete)
      continue;
    token_size_ += static_cast<std::size_t>(got);
    if (token_size_ < token_.size())
      continue;
    const auto answer = owner_.arrived(token_, fd_.get());
    if (!answer)
      return false;
    const WireAnswer bytes = wire_answer(token_, *answer);
    if (::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0)
      return false;
  }
}

}  // namespace

std::unique_ptr<Dialer> make_tcp_dialer(EventLoop& loop, DialSink& sink) {
  return std::make_unique<TcpDialer>(loop, sink);
}

std::unique_ptr<Answerer> make_tcp_answerer(EventLoop& loop, ArrivalSink& sink) {
  return std::make_unique<TcpAnswerer>(loop, sink);
}

std::optional<Opening> read_tcp_opening(Family, std::span<const std::uint8_t> segment) {
  if (segment.size() < 14)
    return std::nullopt;
  constexpr std::uint8_t kSyn = 0x02;
  constexpr std::uint8_t kAck = 0x10;
  constexpr std::size_t kHeader = 20;
  Opening opening;
  opening.sport = read_u16(segment, 0);
  opening.port = read_u16(segment, 2);
  const unsigned flags = segment[13] & (kSyn | kAck);
  if (flags == kSyn) {
    opening.initial_sequence = std::uint32_t{read_u16(segment, 4)} << 16 | read_u16(segment, 6);
  } else if (flags == kAck && segment.size() >= kHeader && read_u16(segment, 18) == kLoneAckMark) {
    opening.token = read_token(segment.subspan(kHeader));
  }
  return opening;
}

}  // namespace bulkhead::probes
