// UDP: the dialer sends one datagram, the token and as much padding as the plan says (larger ones
// leave in fragments), and waits for the answer or an ICMP error. To RoCEv2's port the token
// travels behind a base transport header, since firewalls read that.
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "policy/traffic.h"
#include "probes/transports/socket_dialer.h"
#include "probes/transports/whole_packet.h"

namespace bulkhead::probes {
namespace {

using compiler::kBthBytes;
using compiler::Payload;

// IBTA 9.2: opcode, flags, P_Key, destination QP, packet sequence number. No queue pair has number
// 0xffffff, so that a host that speaks RoCE drops it.
std::array<std::uint8_t, kBthBytes> base_transport_header(Payload payload) {
  constexpr std::uint8_t kRcSendOnly = 0x04;
  constexpr std::uint8_t kRcAcknowledge = 0x11;
  const std::uint8_t opcode = payload == Payload::RoceRequest ? kRcSendOnly : kRcAcknowledge;
  return {opcode, 0, 0xff, 0xff, 0, 0xff, 0xff, 0xff, 0, 0, 0, 0};
}

std::optional<Token> token_of(std::span<const std::uint8_t> datagram, std::uint16_t port) {
  const std::size_t offset = port == policy::kRocePort ? kBthBytes : 0;
  if (datagram.size() < offset)
    return std::nullopt;
  return read_token(datagram.subspan(offset));
}

class UdpDialer;

class UdpTry final : public Watcher {
 public:
  UdpTry(UdpDialer& owner, TryId id, UniqueFd fd, const Token& token)
      : owner_(owner), id_(id), fd_(std::move(fd)), token_(token) {}
  void on_ready(std::uint32_t events) override;
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] Ending so_far() const { return nothing_heard(refused_locally); }

  int refused_locally = 0;  // errno

 private:
  std::optional<Ending> progress(std::uint32_t events);

  UdpDialer& owner_;
  TryId id_;
  UniqueFd fd_;
  Token token_;
};

class UdpDialer final : public SocketDialer<UdpTry> {
 public:
  using SocketDialer::SocketDialer;

 private:
  std::optional<Ending> open(TryId id, const DialTry& what) override {
    const Tuple& tuple = what.what.tuple;
    UniqueFd fd = open_socket(tuple.from.family, SOCK_DGRAM);
    if (!fd)
      return setup_failed("socket", errno);
    fragment_here(fd.get(), tuple.from.family);
    if (auto failed = connect_as_planned(fd.get(), tuple))
      return failed;
    const int raw_fd = fd.get();
    auto dial = std::make_unique<UdpTry>(*this, id, std::move(fd), what.what.token);
    if (auto failed = keep(id, std::move(dial), raw_fd, EPOLLIN | EPOLLET))
      return failed;
    const std::vector<std::uint8_t> payload = udp_payload(what);
    return after_send(id, ::send(raw_fd, payload.data(), payload.size(), MSG_NOSIGNAL));
  }
};

void UdpTry::on_ready(std::uint32_t events) {
  if (auto ending = progress(events))
    owner_.finish(id_, *std::move(ending));  // destroys this
}

std::optional<Ending> UdpTry::progress(std::uint32_t events) {
  if (events & EPOLLERR) {
    while (const auto queued = take_queued_error(fd_.get())) {
      if (queued->icmp)
        return came_back(queued->error, queued->icmp);
    }
  }
  for (;;) {
    std::array<std::uint8_t, 2 * kAnswerSize> datagram;
    const ssize_t got = ::recv(fd_.get(), datagram.data(), datagram.size(), 0);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return std::nullopt;
    const std::span bytes(datagram.data(), static_cast<std::size_t>(got));
    if (const auto answer = read_answer(bytes, token_)) {
      Ending ending;
      ending.outcome = Outcome::Answered;
      ending.answer = answer;
      return ending;
    }
  }
}

// --- listener ------------------------------------------------------------------------------------

// Bound to the address asked, so that answers leave from it.
class UdpPort final : public Watcher {
 public:
  UdpPort(ArrivalSink& sink, const Listener& listener, UniqueFd fd)
      : sink_(sink), listener_(listener), fd_(std::move(fd)) {}
  void on_ready(std::uint32_t events) override;

 private:
  ArrivalSink& sink_;
  Listener listener_;
  UniqueFd fd_;
};

void UdpPort::on_ready(std::uint32_t) {
  for (int i = 0; i < 64; ++i) {
    std::array<std::uint8_t, 64> datagram;  // the rest is padding
    SocketAddress from;
    const ssize_t got =
        ::recvfrom(fd_.get(), datagram.data(), datagram.size(), 0, from.get(), &from.length);
    if (got < 0)
      return;
    const std::span bytes_read(datagram.data(), static_cast<std::size_t>(got));
    const auto [address, port] = from_socket_address(from);
    const Tuple tuple{address, port, listener_.address, listener_.port};
    auto token = token_of(bytes_read, listener_.port);
    auto answer = token ? sink_.arrived(compiler::Transport::Udp, *token, tuple) : std::nullopt;
    // An anchor speaks to RoCE's port without RoCE's header, since it wants an answer.
    if (!answer && listener_.port == policy::kRocePort) {
      token = read_token(bytes_read);
      answer = token ? sink_.arrived(compiler::Transport::Udp, *token, tuple) : std::nullopt;
    }
    if (!answer)
      continue;
    const WireAnswer bytes = wire_answer(*token, *answer);
    ::sendto(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL, from.get(), from.length);
  }
}

class UdpAnswerer final : public Answerer {
 public:
  UdpAnswerer(EventLoop& loop, ArrivalSink& sink) : loop_(loop), sink_(sink) {}
  ~UdpAnswerer() override {
    for (const auto& port : ports_)
      loop_.forget(*port);
  }
  UdpAnswerer(const UdpAnswerer&) = delete;
  UdpAnswerer& operator=(const UdpAnswerer&) = delete;

  Opened open(const Listener& listener) override {
    UniqueFd fd = open_socket(listener.address.family, SOCK_DGRAM);
    if (!fd)
      return {OpenState::Failed, std::strerror(errno)};
    if (listener.address.family == Family::V6)
      set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 1);
    set_option(fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, 4 << 20);
    // No SO_REUSEADDR: with it two UDP sockets could share a port, and steal from each other.
    const SocketAddress local = socket_address(listener.address, listener.port);
    if (::bind(fd.get(), local.get(), local.length) != 0) {
      const OpenState state = errno == EADDRINUSE ? OpenState::Passive : OpenState::Failed;
      return {state, std::strerror(errno)};
    }
    // Now that nobody else holds it: a dialer of ours may send from this very port (DHCP renews
    // from 68). Connected, it is preferred for what its peer answers.
    set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
    const int raw_fd = fd.get();
    auto port = std::make_unique<UdpPort>(sink_, listener, std::move(fd));
    if (const Status status = loop_.watch(raw_fd, EPOLLIN, *port); !status)
      return {OpenState::Failed, status.error().message};
    ports_.push_back(std::move(port));
    return {OpenState::Opened, {}};
  }

 private:
  EventLoop& loop_;
  ArrivalSink& sink_;
  std::vector<std::unique_ptr<UdpPort>> ports_;
};

}  // namespace

std::vector<std::uint8_t> udp_payload(const DialTry& what) {
  std::vector<std::uint8_t> payload;
  if (what.what.payload != Payload::Token) {
    const auto header = base_transport_header(what.what.payload);
    payload.insert(payload.end(), header.begin(), header.end());
  }
  payload.insert(payload.end(), what.what.token.begin(), what.what.token.end());
  payload.resize(payload.size() + what.size);
  return payload;
}

std::unique_ptr<Dialer> make_udp_dialer(EventLoop& loop, DialSink& sink) {
  return std::make_unique<UdpDialer>(loop, sink);
}

std::unique_ptr<Answerer> make_udp_answerer(EventLoop& loop, ArrivalSink& sink) {
  return std::make_unique<UdpAnswerer>(loop, sink);
}

std::optional<Opening> read_udp_opening(Family, std::span<const std::uint8_t> segment) {
  constexpr std::size_t kHeader = 8;
  if (segment.size() < kHeader)
    return std::nullopt;
  Opening opening;
  opening.sport = read_u16(segment, 0);
  opening.port = read_u16(segment, 2);
  opening.token = token_of(segment.subspan(kHeader), opening.port);
  return opening;
}

}  // namespace bulkhead::probes
