// ICMP echo: one raw socket for each source address sends requests with the planned identifier and
// sequence number and hears replies and errors. (Ping sockets would need net.ipv4.ping_group_range
// changed.) The kernel of the other side answers, so the proof of arrival is its capture.
#include <linux/icmp.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip6.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <unordered_map>
#include <vector>

#include "probes/packet.h"
#include "probes/transports/socket_tools.h"

namespace bulkhead::probes {
namespace {

constexpr std::size_t kHeader = 8;  // type, code, checksum, identifier, sequence

std::vector<std::uint8_t> echo_request(const Expected& what) {
  std::vector<std::uint8_t> bytes(kHeader + what.token.size());
  bytes[0] = what.tuple.from.family == Family::V4 ? std::uint8_t{ICMP_ECHO}
                                                  : std::uint8_t{ICMP6_ECHO_REQUEST};
  bytes[4] = static_cast<std::uint8_t>(what.tuple.sport >> 8);
  bytes[5] = static_cast<std::uint8_t>(what.tuple.sport);
  bytes[6] = static_cast<std::uint8_t>(what.tuple.port >> 8);
  bytes[7] = static_cast<std::uint8_t>(what.tuple.port);
  std::copy(what.token.begin(), what.token.end(), bytes.begin() + kHeader);
  if (what.tuple.from.family == Family::V4) {  // the kernel fills in ICMPv6's
    const std::uint16_t sum = internet_checksum(bytes);
    bytes[2] = static_cast<std::uint8_t>(sum >> 8);
    bytes[3] = static_cast<std::uint8_t>(sum);
  }
  return bytes;
}

// The errno that the kernel reports for such an error on other sockets; only what matters here.
int errno_of(Family family, const IcmpError& error) {
  const bool unreachable =
      family == Family::V4 ? error.type == ICMP_DEST_UNREACH : error.type == ICMP6_DST_UNREACH;
  const bool port = family == Family::V4 ? error.code == ICMP_PORT_UNREACH
                                         : error.code == ICMP6_DST_UNREACH_NOPORT;
  return unreachable && port ? ECONNREFUSED : EHOSTUNREACH;
}

class IcmpDialer;

class EchoSocket final : public Watcher {
 public:
  EchoSocket(IcmpDialer& owner, const Address& local, UniqueFd fd)
      : owner_(owner), local_(local), family_(local.family), fd_(std::move(fd)) {}
  void on_ready(std::uint32_t events) override;
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  void handle(const Address& peer, std::span<const std::uint8_t> message);
  void handle_error(const IcmpError& error, std::span<const std::uint8_t> quoted);

  IcmpDialer& owner_;
  Address local_;
  Family family_;
  UniqueFd fd_;
};

class IcmpDialer final : public Dialer {
 public:
  IcmpDialer(EventLoop& loop, DialSink& sink) : loop_(loop), sink_(sink) {}
  ~IcmpDialer() override {
    for (const auto& [address, socket] : sockets_)
      loop_.forget(*socket);
  }
  IcmpDialer(const IcmpDialer&) = delete;
  IcmpDialer& operator=(const IcmpDialer&) = delete;

  void start(TryId id, const DialTry& what) override {
    if (auto ending = send(id, what.what))
      sink_.ended(id, *std::move(ending));
  }
  Ending give_up(TryId id) override {
    const auto found = tries_.find(id);
    Ending ending;
    ending.outcome = Outcome::Timeout;
    ending.error = found->second.refused_locally;
    if (ending.error != 0)
      ending.detail = "a rule of the sender's own host refused it";
    remove(found);
    return ending;
  }
  // An echo reply, or an error that quotes a request, by what identifies it.
  void heard(const Tuple& tuple, const std::optional<Token>& token,
             const std::optional<IcmpError>& error) {
    const auto found = by_tuple_.find(tuple);
    if (found == by_tuple_.end())
      return;
    const auto dial = tries_.find(found->second);
    Ending ending;
    if (error) {
      ending = came_back(errno_of(tuple.to.family, *error), error);
    } else if (token == dial->second.token) {
      ending.outcome = Outcome::Answered;
    } else {
      return;
    }
    const TryId id = dial->first;
    remove(dial);
    sink_.ended(id, std::move(ending));
  }

 private:
  struct Try {
    Tuple tuple;
    Token token;
    int refused_locally = 0;
  };
  using Tries = std::unordered_map<TryId, Try>;

  std::optional<Ending> send(TryId id, const Expected& what) {
    auto socket = socket_for(what.tuple.from);
    if (!socket)
      return setup_failed("raw socket", socket.error());
    const auto request = echo_request(what);
    const SocketAddress to = socket_address(what.tuple.to, 0);
    Try dial{what.tuple, what.token};
    if (!by_tuple_.emplace(dial.tuple, id).second)
      return setup_failed("echo with an identifier in use", EADDRINUSE);
    if (::sendto(*socket, request.data(), request.size(), MSG_NOSIGNAL, to.get(), to.length) < 0) {
      const int error = errno;
      if (error != EPERM) {  // as for UDP: a rule of our own host dropped it on its way out
        by_tuple_.erase(dial.tuple);
        return send_failed("sendto", error);
      }
      dial.refused_locally = error;
    }
    tries_.emplace(id, std::move(dial));
    return std::nullopt;
  }

  // Fails with errno.
  tl::expected<int, int> socket_for(const Address& from) {
    if (const auto found = sockets_.find(from); found != sockets_.end())
      return found->second->fd();
    const bool v4 = from.family == Family::V4;
    UniqueFd fd = open_socket(from.family, SOCK_RAW, v4 ? int{IPPROTO_ICMP} : int{IPPROTO_ICMPV6});
    if (!fd)
      return tl::unexpected(errno);
    if (v4) {
      const icmp_filter filter{~(1U << ICMP_ECHOREPLY | 1U << ICMP_DEST_UNREACH |
                                 1U << ICMP_TIME_EXCEEDED | 1U << ICMP_PARAMETERPROB)};
      constexpr int kIcmpFilter = 1;  // ICMP_FILTER of linux/icmp.h
      ::setsockopt(fd.get(), SOL_RAW, kIcmpFilter, &filter, sizeof filter);
    } else {
      icmp6_filter filter;
      ICMP6_FILTER_SETBLOCKALL(&filter);
      for (const int type : {ICMP6_ECHO_REPLY, ICMP6_DST_UNREACH, ICMP6_PACKET_TOO_BIG,
                             ICMP6_TIME_EXCEEDED, ICMP6_PARAM_PROB})
        ICMP6_FILTER_SETPASS(type, &filter);
      ::setsockopt(fd.get(), IPPROTO_ICMPV6, ICMP6_FILTER, &filter, sizeof filter);
    }
    set_option(fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, 4 << 20);
    const SocketAddress local = socket_address(from, 0);
    if (::bind(fd.get(), local.get(), local.length) != 0)
      return tl::unexpected(errno);
    const int raw_fd = fd.get();
    auto socket = std::make_unique<EchoSocket>(*this, from, std::move(fd));
    if (!loop_.watch(raw_fd, EPOLLIN, *socket))
      return tl::unexpected(errno);
    sockets_.emplace(from, std::move(socket));
    return raw_fd;
  }
  void remove(Tries::iterator found) {
    by_tuple_.erase(found->second.tuple);
    tries_.erase(found);
  }

  EventLoop& loop_;
  DialSink& sink_;
  std::map<Address, std::unique_ptr<EchoSocket>> sockets_;
  Tries tries_;
  std::map<Tuple, TryId> by_tuple_;
};

void EchoSocket::on_ready(std::uint32_t) {
  for (int i = 0; i < 64; ++i) {
    std::array<std::uint8_t, 1500> packet;
    SocketAddress from;
    const ssize_t got =
        ::recvfrom(fd_.get(), packet.data(), packet.size(), 0, from.get(), &from.length);
    if (got < 0)
      return;
    std::span<const std::uint8_t> message(packet.data(), static_cast<std::size_t>(got));
    if (family_ == Family::V4) {  // comes with its IP header
      const std::size_t header = message.empty() ? 0 : (message[0] & 15U) * 4U;
      if (message.size() < header)
        continue;
      message = message.subspan(header);
    }
    handle(from_socket_address(from).first, message);
  }
}

void EchoSocket::handle(const Address& peer, std::span<const std::uint8_t> message) {
  if (message.size() < kHeader)
    return;
  const bool reply = message[0] == (family_ == Family::V4 ? ICMP_ECHOREPLY : ICMP6_ECHO_REPLY);
  if (reply) {
    owner_.heard({local_, read_u16(message, 4), peer, read_u16(message, 6)},
                 read_token(message.subspan(kHeader)), std::nullopt);
  } else {
    handle_error({message[0], message[1], peer}, message.subspan(kHeader));
  }
}

// `quoted` is the packet that the error is about.
void EchoSocket::handle_error(const IcmpError& error, std::span<const std::uint8_t> quoted) {
  Address to;
  to.family = family_;
  std::size_t header = 0;
  if (family_ == Family::V4) {
    if (quoted.size() < 20 || quoted[9] != IPPROTO_ICMP)
      return;
    header = (quoted[0] & 15U) * 4U;
    std::copy_n(quoted.begin() + 16, 4, to.bytes.begin());
  } else {
    header = sizeof(ip6_hdr);
    if (quoted.size() < header || quoted[6] != IPPROTO_ICMPV6)
      return;
    std::copy_n(quoted.begin() + 24, 16, to.bytes.begin());
  }
  if (quoted.size() < header + kHeader)
    return;
  owner_.heard({local_, read_u16(quoted, header + 4), to, read_u16(quoted, header + 6)},
               std::nullopt, error);
}

// The kernel answers; there is nothing to open, but the address must be ours.
class IcmpAnswerer final : public Answerer {
 public:
  Opened open(const Listener& listener) override { return probe_local_address(listener.address); }
};

}  // namespace

std::unique_ptr<Dialer> make_icmp_dialer(EventLoop& loop, DialSink& sink) {
  return std::make_unique<IcmpDialer>(loop, sink);
}

std::unique_ptr<Answerer> make_icmp_answerer(EventLoop&, ArrivalSink&) {
  return std::make_unique<IcmpAnswerer>();
}

std::optional<Opening> read_icmp_opening(Family family, std::span<const std::uint8_t> segment) {
  const std::uint8_t request =
      family == Family::V4 ? std::uint8_t{ICMP_ECHO} : std::uint8_t{ICMP6_ECHO_REQUEST};
  if (segment.size() < kHeader || segment[0] != request)
    return std::nullopt;
  Opening opening;
  opening.sport = read_u16(segment, 4);
  opening.port = read_u16(segment, 6);
  opening.token = read_token(segment.subspan(kHeader));
  return opening;
}

}  // namespace bulkhead::probes
