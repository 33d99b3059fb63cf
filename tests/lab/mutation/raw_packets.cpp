#include "raw_packets.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstring>
#include <map>
#include <set>

#include "compiler/probe_bridges.h"
#include "compiler/probe_forgeries.h"
#include "compiler/probe_shot.h"
#include "enforcement/backends/netns_thread.h"
#include "policy/support/handle.h"

namespace bulkhead::testing {

namespace {

using compiler::Transport;

// The source port, or the ICMP identifier, is the probe's number.
constexpr std::uint16_t kFirstNumber = 20000;

constexpr std::uint8_t kLoneAck = 0x10;  // TCP's flags

union SocketAddress {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
};
socklen_t length(Family family) {
  return family == Family::V4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
}
SocketAddress socket_address(const Address& address) {
  SocketAddress out{};
  if (address.family == Family::V4) {
    out.v4.sin_family = AF_INET;
    std::memcpy(&out.v4.sin_addr, address.bytes.data(), 4);
  } else {
    out.v6.sin6_family = AF_INET6;
    std::memcpy(&out.v6.sin6_addr, address.bytes.data(), 16);
  }
  return out;
}

int protocol(Transport transport, Family family) {
  if (transport == Transport::Tcp)
    return IPPROTO_TCP;
  if (transport == Transport::Udp)
    return IPPROTO_UDP;
  return family == Family::V4 ? int{IPPROTO_ICMP} : int{IPPROTO_ICMPV6};
}

std::uint16_t checksum(std::vector<std::uint8_t> bytes) {
  if (bytes.size() % 2 != 0)
    bytes.push_back(0);
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 2)
    sum += static_cast<std::uint32_t>(bytes[i] << 8 | bytes[i + 1]);
  while (sum >> 16 != 0)
    sum = (sum & 0xffff) + (sum >> 16);
  return htons(static_cast<std::uint16_t>(~sum));
}

std::vector<std::uint8_t> segment(const compiler::Probe& probe, std::uint16_t number) {
  std::vector<std::uint8_t> bytes;
  if (probe.transport == Transport::Tcp) {
    tcphdr tcp{};
    tcp.source = htons(number);
    tcp.dest = htons(probe.port);
    tcp.seq = htonl(number);
    tcp.doff = 5;
    const bool lone_ack = probe.payload == compiler::Payload::LoneAck;
    tcp.ack = lone_ack ? 1 : 0;
    tcp.syn = lone_ack ? 0 : 1;
    tcp.window = htons(1024);
    bytes.resize(sizeof tcp);
    std::memcpy(bytes.data(), &tcp, sizeof tcp);
  } else if (probe.transport == Transport::Udp) {
    udphdr udp{};
    udp.source = htons(number);
    udp.dest = htons(probe.port);
    udp.len = htons(static_cast<std::uint16_t>(sizeof udp + probe.size));
    bytes.resize(sizeof udp + probe.size);
    std::memcpy(bytes.data(), &udp, sizeof udp);
  } else {
    bytes = {static_cast<std::uint8_t>(probe.from.address.family == Family::V4 ? 8 : 128),
             0,
             0,
             0,
             static_cast<std::uint8_t>(number >> 8),
             static_cast<std::uint8_t>(number & 0xff),
             0,
             1};
  }
  return bytes;
}

// IPv6 sockets fill in the checksum themselves (IPV6_CHECKSUM); IPv4 raw sockets do not.
void fill_checksum(std::vector<std::uint8_t>& bytes, const compiler::Probe& probe) {
  std::vector<std::uint8_t> covered;
  std::size_t at = 2;
  if (probe.transport != Transport::Icmp) {
    for (const auto* address : {&probe.from.address, &probe.to.address})
      covered.insert(covered.end(), address->bytes.begin(), address->bytes.begin() + 4);
    const auto size = static_cast<std::uint16_t>(bytes.size());
    covered.insert(covered.end(),
                   {0, static_cast<std::uint8_t>(protocol(probe.transport, Family::V4)),
                    static_cast<std::uint8_t>(size >> 8), static_cast<std::uint8_t>(size & 0xff)});
    at = probe.transport == Transport::Tcp ? 16 : 6;
  }
  covered.insert(covered.end(), bytes.begin(), bytes.end());
  const std::uint16_t sum = checksum(covered);
  std::memcpy(bytes.data() + at, &sum, sizeof sum);
}

void send_one(const compiler::Probe& probe, std::uint16_t number) {
  const Family family = probe.from.address.family;
  const UniqueFd fd(::socket(family == Family::V4 ? AF_INET : AF_INET6, SOCK_RAW | SOCK_CLOEXEC,
                             protocol(probe.transport, family)));
  const SocketAddress from = socket_address(probe.from.address);
  const SocketAddress to = socket_address(probe.to.address);
  EXPECT_EQ(::bind(fd.get(), &from.any, length(family)), 0) << std::strerror(errno);
  std::vector<std::uint8_t> bytes = segment(probe, number);
  if (family == Family::V4) {
    fill_checksum(bytes, probe);
  } else if (probe.transport != Transport::Icmp) {
    const int offset = probe.transport == Transport::Tcp ? 16 : 6;
    EXPECT_EQ(::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_CHECKSUM, &offset, sizeof offset), 0);
  }
  // EPERM is the sender's own output chain: as good as lost.
  static_cast<void>(::sendto(fd.get(), bytes.data(), bytes.size(), 0, &to.any, length(family)));
}

// A raw socket gets a copy of what passed the host's input hook.
struct Ear {
  Transport transport;
  Family family;
  UniqueFd fd;
};

// The number of the packet that is readable, or 0.
std::uint16_t hear(const Ear& ear) {
  std::array<std::uint8_t, 8192> buffer{};
  const ssize_t got = ::recv(ear.fd.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got < 8)
    return 0;
  const std::size_t skip = ear.family == Family::V4 ? (buffer[0] & 0x0fU) * 4U : 0;
  const std::uint8_t* header = buffer.data() + skip;
  if (ear.transport == Transport::Icmp) {
    const bool request = header[0] == (ear.family == Family::V4 ? 8 : 128);
    return request ? static_cast<std::uint16_t>(header[4] << 8 | header[5]) : std::uint16_t{0};
  }
  const bool answer =
      ear.transport == Transport::Tcp && (header[13] & 0x12) != 0x02 && header[13] != kLoneAck;
  return answer ? std::uint16_t{0} : static_cast<std::uint16_t>(header[0] << 8 | header[1]);
}

class Ears {
 public:
  Ears(const scenarios::Lab& lab, const std::set<std::string>& hosts) {
    for (const auto& host : hosts) {
      const auto open = [&]() -> Status {
        for (const Family family : kFamilies)
          for (const Transport transport : {Transport::Tcp, Transport::Udp, Transport::Icmp}) {
            UniqueFd fd(::socket(family == Family::V4 ? AF_INET : AF_INET6, SOCK_RAW | SOCK_CLOEXEC,
                                 protocol(transport, family)));
            const int room = 16 << 20;
            ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
            by_host_[host].push_back({transport, family, std::move(fd)});
          }
        return {};
      };
      EXPECT_TRUE(enforcement::run_in_netns(lab.netns_path(host), open));
    }
  }

  // (host, number) of all that arrives until nothing came for a while.
  std::set<std::pair<std::string, std::uint16_t>> listen() {
    std::vector<pollfd> polled;
    std::vector<std::pair<std::string, const Ear*>> ears;
    for (const auto& [host, of_host] : by_host_)
      for (const auto& ear : of_host) {
        polled.push_back({ear.fd.get(), POLLIN, 0});
        ears.emplace_back(host, &ear);
      }
    std::set<std::pair<std::string, std::uint16_t>> heard;
    constexpr int kQuietMs = 400;
    while (::poll(polled.data(), polled.size(), kQuietMs) > 0)
      for (std::size_t i = 0; i < polled.size(); ++i)
        if (polled[i].revents != 0)
          heard.emplace(ears[i].first, hear(*ears[i].second));
    return heard;
  }

 private:
  std::map<std::string, std::vector<Ear>> by_host_;
};

}  // namespace

std::vector<bool> packets_that_arrive(const scenarios::Lab& lab, const compiler::ProbePlan& plan) {
  std::set<std::string> targets;
  std::map<std::string, std::vector<std::size_t>> by_source;
  for (std::size_t i = 0; i < plan.probes.size(); ++i) {
    // A socket cannot send from an address that its host does not hold, and a bare protocol's
    // packet may be taken for the reply to one that passed earlier in this lab: those count as
    // lost. So do frames to another segment's NIC, and ICMP queries other than an echo.
    const compiler::Probe& probe = plan.probes[i];
    if (probe.rule == compiler::kRuleSpoofed || probe.rule == compiler::kRuleBridged ||
        probe.transport == Transport::Raw ||
        (probe.transport == Transport::Icmp && probe.port != compiler::kEcho))
      continue;
    targets.insert(plan.probes[i].to.host);
    by_source[plan.probes[i].from.host].push_back(i);
  }
  Ears ears(lab, targets);
  for (const auto& [host, probes] : by_source) {
    const auto send = [&]() -> Status {
      for (const std::size_t i : probes)
        send_one(plan.probes[i], static_cast<std::uint16_t>(kFirstNumber + i));
      return {};
    };
    EXPECT_TRUE(enforcement::run_in_netns(lab.netns_path(host), send));
  }
  const auto heard = ears.listen();
  std::vector<bool> arrived;
  for (std::size_t i = 0; i < plan.probes.size(); ++i)
    arrived.push_back(
        heard.contains({plan.probes[i].to.host, static_cast<std::uint16_t>(kFirstNumber + i)}));
  return arrived;
}

}  // namespace bulkhead::testing
