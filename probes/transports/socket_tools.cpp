#include "probes/transports/socket_tools.h"

// First: linux/errqueue.h needs struct timespec.
#include <time.h>

#include <linux/errqueue.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace bulkhead::probes {

SocketAddress socket_address(const Address& address, std::uint16_t port) {
  SocketAddress out;
  if (address.family == Family::V4) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    std::memcpy(&v4.sin_addr, address.bytes.data(), 4);
    std::memcpy(&out.storage, &v4, sizeof v4);
    out.length = sizeof v4;
  } else {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    std::memcpy(&v6.sin6_addr, address.bytes.data(), 16);
    std::memcpy(&out.storage, &v6, sizeof v6);
    out.length = sizeof v6;
  }
  return out;
}

std::pair<Address, std::uint16_t> from_socket_address(const SocketAddress& address) {
  Address out;
  if (address.storage.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &address.storage, sizeof v4);
    std::memcpy(out.bytes.data(), &v4.sin_addr, 4);
    return {out, ntohs(v4.sin_port)};
  }
  sockaddr_in6 v6{};
  std::memcpy(&v6, &address.storage, sizeof v6);
  out.family = Family::V6;
  std::memcpy(out.bytes.data(), &v6.sin6_addr, 16);
  return {out, ntohs(v6.sin6_port)};
}

UniqueFd open_socket(Family family, int type, int protocol) {
  return UniqueFd(::socket(family == Family::V4 ? AF_INET : AF_INET6,
                           type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol));
}

void set_option(int fd, int level, int name, int value) {
  ::setsockopt(fd, level, name, &value, sizeof value);
}

void keep_icmp_errors(int fd, Family family) {
  if (family == Family::V4)
    set_option(fd, IPPROTO_IP, IP_RECVERR, 1);
  else
    set_option(fd, IPPROTO_IPV6, IPV6_RECVERR, 1);
}

void reset_on_close(int fd) {
  const linger now{1, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

std::optional<QueuedError> take_queued_error(int fd) {
  std::array<char, 64> payload;
  alignas(cmsghdr) std::array<char, 512> control;
  iovec vector{payload.data(), payload.size()};
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  if (::recvmsg(fd, &message, MSG_ERRQUEUE) < 0)
    return std::nullopt;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    const bool v4 = header->cmsg_level == IPPROTO_IP && header->cmsg_type == IP_RECVERR;
    const bool v6 = header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == IPV6_RECVERR;
    if (!v4 && !v6)
      continue;
    sock_extended_err extended{};
    std::memcpy(&extended, CMSG_DATA(header), sizeof extended);
    QueuedError queued{static_cast<int>(extended.ee_errno), std::nullopt};
    if (extended.ee_origin == SO_EE_ORIGIN_ICMP || extended.ee_origin == SO_EE_ORIGIN_ICMP6) {
      // The offender's address follows the structure (SO_EE_OFFENDER of ip(7)).
      SocketAddress offender;
      std::memcpy(&offender.storage, CMSG_DATA(header) + sizeof extended,
                  v4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
      queued.icmp = IcmpError{extended.ee_type, extended.ee_code, {}};
      if (offender.storage.ss_family != AF_UNSPEC)
        queued.icmp->from = from_socket_address(offender).first;
    }
    return queued;
  }
  return QueuedError{};
}

void fragment_here(int fd, Family family) {
  if (family == Family::V4)
    set_option(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DONT);
  else
    set_option(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DONT);
}

Ending nothing_heard(int refused) {
  Ending ending;
  ending.outcome = Outcome::Timeout;
  ending.error = refused;
  if (refused != 0)
    ending.detail = kRefusedHere;
  return ending;
}

Ending setup_failed(const char* call, int error) {
  Ending ending;
  ending.outcome = Outcome::SetupFailed;
  ending.error = error;
  ending.detail = std::string(call) + ": " + std::strerror(error);
  return ending;
}

Ending send_failed(const char* call, int error) {
  Ending ending = setup_failed(call, error);
  // An unreachable route reads as EHOSTUNREACH, a prohibited one as EACCES (fib_props).
  if (error == ENETUNREACH || error == EHOSTUNREACH || error == EACCES)
    ending.outcome = Outcome::NoRoute;
  return ending;
}

Ending came_back(int error, std::optional<IcmpError> icmp) {
  Ending ending;
  ending.error = error;
  ending.icmp = std::move(icmp);
  if (error == ECONNREFUSED)
    ending.outcome = Outcome::Refused;
  else if (error == ETIMEDOUT)
    ending.outcome = Outcome::Timeout;
  else
    ending.outcome = Outcome::Unreachable;
  return ending;
}

Opened probe_local_address(const Address& address) {
  const UniqueFd fd = open_socket(address.family, SOCK_DGRAM);
  const SocketAddress local = socket_address(address, 0);
  if (!fd || ::bind(fd.get(), local.get(), local.length) != 0)
    return {OpenState::Failed, std::strerror(errno)};
  return {OpenState::Opened, {}};
}

std::optional<Token> read_token(std::span<const std::uint8_t> payload) {
  Token token{};
  if (payload.size() < token.size())
    return std::nullopt;
  std::copy_n(payload.begin(), token.size(), token.begin());
  return token;
}

std::optional<Ending> connect_as_planned(int fd, const Tuple& tuple) {
  keep_icmp_errors(fd, tuple.from.family);
  set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  const SocketAddress local = socket_address(tuple.from, tuple.sport);
  if (::bind(fd, local.get(), local.length) != 0)
    return setup_failed("bind", errno);
  const SocketAddress remote = socket_address(tuple.to, tuple.port);
  if (::connect(fd, remote.get(), remote.length) != 0 && errno != EINPROGRESS)
    return send_failed("connect", errno);
  return std::nullopt;
}

}  // namespace bulkhead::probes
