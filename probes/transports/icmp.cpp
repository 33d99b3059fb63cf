// ICMP queries, echo and timestamp: one raw socket for each source address sends them with the
// planned identifier and sequence number, which says which query it is, and hears replies and
// errors. (Ping sockets would need net.ipv4.ping_group_range changed.) The kernel of the other side
// answers, so the proof of arrival is its capture.
#include <linux/icmp.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip6.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <map>
#include <unordered_map>
#include <vector>

#include "compiler/probe_shot.h"
#include "probes/packet.h"
#include "probes/transports/socket_tools.h"
#include "probes/transports/whole_packet.h"

namespace bulkhead::probes {
namespace {

constexpr std::size_t kHeader = 8;  // type, code, checksum, identifier, sequence

std::uint16_t row_of(const Tuple& tuple) {
  return static_cast<std::uint16_t>(tuple.port - kFirstQuery);
}

// What a reply repeats of the token: an echo all of it, a timestamp the sender's own time alone,
// which is where the token begins (RFC 792).
std::size_t repeated(const Tuple& tuple) {
  return row_of(tuple) == compiler::kTimestamp ? sizeof(std::uint32_t) : sizeof(Token);
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
    if (auto ending = send(id, what))
      sink_.ended(id, *std::move(ending));
  }
  Ending give_up(TryId id) override {
    const auto found = tries_.find(id);
    Ending ending = nothing_heard(found->second.refused_locally);
    remove(found);
    return ending;
  }
  // A reply, or an error that quotes a request, by what identifies it.
  void heard(const Tuple& tuple, std::span<const std::uint8_t> payload,
             const std::optional<IcmpError>& error) {
    const auto found = by_tuple_.find(tuple);
    if (found == by_tuple_.end())
      return;
    const auto dial = tries_.find(found->second);
    Ending ending;
    if (error) {
      ending = came_back(errno_of(tuple.to.family, *error), error);
    } else if (const std::size_t length = repeated(tuple);
               payload.size() >= length &&
               std::equal(payload.begin(), payload.begin() + static_cast<std::ptrdiff_t>(length),
                          dial->second.token.begin())) {
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

  std::optional<Ending> send(TryId id, const DialTry& planned) {
    const Expected& what = planned.what;
    auto socket = socket_for(what.tuple.from);
    if (!socket)
      return setup_failed("raw socket", socket.error());
    const auto request = icmp_query(planned);
    const SocketAddress to = socket_address(what.tuple.to, 0);
    Try dial{what.tuple, what.token};
    if (!by_tuple_.emplace(dial.tuple, id).second)
      return setup_failed("query with an identifier in use", EADDRINUSE);
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
      const icmp_filter filter{~(1U << ICMP_ECHOREPLY | 1U << ICMP_TIMESTAMPREPLY |
                                 1U << ICMP_DEST_UNREACH | 1U << ICMP_TIME_EXCEEDED |
                                 1U << ICMP_PARAMETERPROB)};
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
    fragment_here(fd.get(), from.family);
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
  const bool reply = family_ == Family::V4
                         ? message[0] == ICMP_ECHOREPLY || message[0] == ICMP_TIMESTAMPREPLY
                         : message[0] == ICMP6_ECHO_REPLY;
  if (reply)
    owner_.heard({local_, read_u16(message, 4), peer, read_u16(message, 6)},
                 message.subspan(kHeader), std::nullopt);
  else
    handle_error({message[0], message[1], peer}, message.subspan(kHeader));
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
  owner_.heard({local_, read_u16(quoted, header + 4), to, read_u16(quoted, header + 6)}, {}, error);
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

std::vector<std::uint8_t> icmp_query(const DialTry& what) {
  const Tuple& tuple = what.what.tuple;
  const std::uint16_t row = row_of(tuple) == compiler::kTimestamp ? row_of(tuple) : compiler::kEcho;
  const policy::IcmpQuery& query = policy::kIcmpQueries[row];
  const bool v4 = tuple.from.family == Family::V4;
  const Token& token = what.what.token;
  std::vector<std::uint8_t> bytes(kHeader + token.size() + what.size);
  bytes[0] = (v4 ? query.v4_type : query.v6_type).value_or(0);
  bytes[4] = static_cast<std::uint8_t>(tuple.sport >> 8);
  bytes[5] = static_cast<std::uint8_t>(tuple.sport);
  bytes[6] = static_cast<std::uint8_t>(tuple.port >> 8);
  bytes[7] = static_cast<std::uint8_t>(tuple.port);
  std::copy(token.begin(), token.end(), bytes.begin() + kHeader);
  if (v4) {  // the kernel fills in ICMPv6's
    const std::uint16_t sum = internet_checksum(bytes);
    bytes[2] = static_cast<std::uint8_t>(sum >> 8);
    bytes[3] = static_cast<std::uint8_t>(sum);
  }
  return bytes;
}

std::optional<Opening> read_icmp_opening(Family family, std::span<const std::uint8_t> segment) {
  if (segment.size() < kHeader)
    return std::nullopt;
  const auto is_request = [&](const policy::IcmpQuery& query) {
    return family == Family::V4 ? segment[0] == query.v4_type : segment[0] == query.v6_type;
  };
  if (std::none_of(std::begin(policy::kIcmpQueries), std::end(policy::kIcmpQueries), is_request))
    return std::nullopt;
  Opening opening;
  opening.sport = read_u16(segment, 4);
  opening.port = read_u16(segment, 6);
  opening.token = read_token(segment.subspan(kHeader));
  return opening;
}

}  // namespace bulkhead::probes
