// Any other IP protocol: one packet with the token, whose IP header the kernel makes. In front of
// the token stand four bytes where most headers have two ports, and where a filter reads them: a
// number that no other try of the run has, and the protocol's own. They tell a trace, which shows
// no more of the packet, which try it is. Nobody answers, so the proof of arrival is the capture
// of the other side; its kernel may say that it does not know the protocol.
#include <netinet/icmp6.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>

#include "probes/transports/socket_dialer.h"
#include "probes/transports/whole_packet.h"

namespace bulkhead::probes {
namespace {

class RawDialer;

constexpr std::size_t kPorts = 4;  // octets in front of the token

// A pair of hosts is asked each protocol once at a time, so an error that the kernel hands to this
// socket, by addresses and protocol, is of this try.
class RawTry final : public Watcher {
 public:
  RawTry(RawDialer& owner, TryId id, UniqueFd fd) : owner_(owner), id_(id), fd_(std::move(fd)) {}
  void on_ready(std::uint32_t events) override;
  [[nodiscard]] Ending so_far() const { return nothing_heard(refused_locally); }

  int refused_locally = 0;  // errno

 private:
  RawDialer& owner_;
  TryId id_;
  UniqueFd fd_;
};

class RawDialer final : public SocketDialer<RawTry> {
 public:
  using SocketDialer::SocketDialer;

 private:
  std::optional<Ending> open(TryId id, const DialTry& what) override {
    const Tuple& tuple = what.what.tuple;
    UniqueFd fd = open_socket(tuple.from.family, SOCK_RAW, tuple.port);
    if (!fd)
      return setup_failed("raw socket", errno);
    // A raw socket has no ports, and IPv6 would take them for protocol numbers (ipv6(7)).
    if (auto failed = connect_as_planned(fd.get(), {tuple.from, 0, tuple.to, 0}))
      return failed;
    const int raw_fd = fd.get();
    auto dial = std::make_unique<RawTry>(*this, id, std::move(fd));
    // Errors are always reported; what the other side sends by this protocol is not ours to read.
    if (auto failed = keep(id, std::move(dial), raw_fd, EPOLLET))
      return failed;
    const std::vector<std::uint8_t> payload = raw_payload(what.what);
    return after_send(id, ::send(raw_fd, payload.data(), payload.size(), MSG_NOSIGNAL));
  }
};

// RFC 1122 3.2.2.1 and RFC 4443 3.4: what a host says of a protocol that nobody there speaks.
bool knows_no_such_protocol(const QueuedError& queued) {
  return queued.error == ENOPROTOOPT ||
         (queued.icmp->from.family == Family::V6 && queued.icmp->type == ICMP6_PARAM_PROB &&
          queued.icmp->code == ICMP6_PARAMPROB_NEXTHEADER);
}

void RawTry::on_ready(std::uint32_t) {
  while (const auto queued = take_queued_error(fd_.get())) {
    if (!queued->icmp)
      continue;
    const int error = knows_no_such_protocol(*queued) ? ECONNREFUSED : queued->error;
    owner_.finish(id_, came_back(error, queued->icmp));  // destroys this
    return;
  }
}

// The kernel receives it, or refuses it; there is nothing to open, but the address must be ours.
class RawAnswerer final : public Answerer {
 public:
  Opened open(const Listener& listener) override { return probe_local_address(listener.address); }
};

}  // namespace

std::vector<std::uint8_t> raw_payload(const Expected& what) {
  const auto [from, sport, to, protocol] = what.tuple;
  std::vector<std::uint8_t> out(kPorts + what.token.size());
  out[0] = static_cast<std::uint8_t>(sport >> 8);
  out[1] = static_cast<std::uint8_t>(sport);
  out[2] = static_cast<std::uint8_t>(protocol >> 8);
  out[3] = static_cast<std::uint8_t>(protocol);
  std::ranges::copy(what.token, out.begin() + kPorts);
  return out;
}

std::unique_ptr<Dialer> make_raw_dialer(EventLoop& loop, DialSink& sink) {
  return std::make_unique<RawDialer>(loop, sink);
}

std::unique_ptr<Answerer> make_raw_answerer(EventLoop&, ArrivalSink&) {
  return std::make_unique<RawAnswerer>();
}

std::optional<Opening> read_raw_opening(Family, std::span<const std::uint8_t> segment) {
  if (segment.size() < kPorts)
    return std::nullopt;
  Opening opening;
  opening.sport = read_u16(segment, 0);
  opening.port = read_u16(segment, 2);
  opening.token = read_token(segment.subspan(kPorts));
  return opening;
}

}  // namespace bulkhead::probes
