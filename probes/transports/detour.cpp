// A datagram to a next hop that is not the sender's own choice: whether a host between two segments
// forwards. A packet socket frames it, so no route, rule or neighbour entry of the sender changes,
// and its own firewall has no word in it. No socket waits for an answer: arrival is all there is to
// see.
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "probes/packet.h"
#include "probes/transports/socket_tools.h"

namespace bulkhead::probes {
namespace {

constexpr std::size_t kUdpHeader = 8;

void put_u16(std::vector<std::uint8_t>& out, std::size_t value) {
  out.push_back(static_cast<std::uint8_t>(value >> 8));
  out.push_back(static_cast<std::uint8_t>(value));
}

void set_u16(std::vector<std::uint8_t>& out, std::size_t at, std::uint16_t value) {
  out[at] = static_cast<std::uint8_t>(value >> 8);
  out[at + 1] = static_cast<std::uint8_t>(value);
}

void put_address(std::vector<std::uint8_t>& out, const Address& address) {
  const auto length = address.family == Family::V4 ? 4 : 16;
  out.insert(out.end(), address.bytes.begin(), address.bytes.begin() + length);
}

std::vector<std::uint8_t> udp_segment(const DialTry& what) {
  const Tuple& tuple = what.what.tuple;
  const std::size_t length = kUdpHeader + what.what.token.size() + what.size;
  // The pseudo header of RFC 768 and RFC 8200 8.1 is checked with the segment, and then taken off.
  std::vector<std::uint8_t> out;
  put_address(out, tuple.from);
  put_address(out, tuple.to);
  put_u16(out, IPPROTO_UDP);
  put_u16(out, length);
  const std::size_t pseudo = out.size();
  put_u16(out, tuple.sport);
  put_u16(out, tuple.port);
  put_u16(out, length);
  put_u16(out, 0);
  out.insert(out.end(), what.what.token.begin(), what.what.token.end());
  out.resize(pseudo + length);
  const std::uint16_t sum = internet_checksum(out);
  set_u16(out, pseudo + 6, sum == 0 ? 0xffff : sum);
  out.erase(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(pseudo));
  return out;
}

std::vector<std::uint8_t> packet_of(const DialTry& what) {
  constexpr std::uint8_t kHopLimit = 64;
  const Tuple& tuple = what.what.tuple;
  const std::vector<std::uint8_t> segment = udp_segment(what);
  std::vector<std::uint8_t> out;
  if (tuple.from.family == Family::V4) {
    constexpr std::size_t kHeader = 20;
    out = {0x45, 0};
    put_u16(out, kHeader + segment.size());
    out.insert(out.end(), {0, 0, 0, 0, kHopLimit, IPPROTO_UDP, 0, 0});
    put_address(out, tuple.from);
    put_address(out, tuple.to);
    set_u16(out, 10, internet_checksum(out));
  } else {
    out = {0x60, 0, 0, 0};
    put_u16(out, segment.size());
    out.insert(out.end(), {IPPROTO_UDP, kHopLimit});
    put_address(out, tuple.from);
    put_address(out, tuple.to);
  }
  out.insert(out.end(), segment.begin(), segment.end());
  return out;
}

// 0: no interface holds it.
unsigned interface_with(const Address& address) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0)
    return 0;
  unsigned index = 0;
  for (const ifaddrs* entry = list; entry != nullptr && index == 0; entry = entry->ifa_next) {
    const int family = entry->ifa_addr != nullptr ? entry->ifa_addr->sa_family : AF_UNSPEC;
    if (family != AF_INET && family != AF_INET6)
      continue;
    SocketAddress own;
    own.length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    std::copy_n(reinterpret_cast<const std::uint8_t*>(entry->ifa_addr), own.length,
                reinterpret_cast<std::uint8_t*>(&own.storage));
    if (from_socket_address(own).first == address)
      index = ::if_nametoindex(entry->ifa_name);
  }
  ::freeifaddrs(list);
  return index;
}

class DetourDialer final : public Dialer {
 public:
  explicit DetourDialer(DialSink& sink) : sink_(sink) {}

  void start(TryId id, const DialTry& what) override {
    if (auto failed = send(what))
      sink_.ended(id, *std::move(failed));
  }
  Ending give_up(TryId) override {
    Ending ending;
    ending.outcome = Outcome::Timeout;
    return ending;
  }

 private:
  // None: it is on the wire, and nothing comes back that this host would wait for.
  static std::optional<Ending> send(const DialTry& what) {
    const Tuple& tuple = what.what.tuple;
    const std::uint16_t protocol = tuple.from.family == Family::V4 ? ETH_P_IP : ETH_P_IPV6;
    // Protocol 0: nothing is received.
    const UniqueFd fd(::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!fd)
      return setup_failed("packet socket", errno);
    sockaddr_ll next_hop{};
    next_hop.sll_family = AF_PACKET;
    next_hop.sll_protocol = htons(protocol);
    next_hop.sll_ifindex = static_cast<int>(interface_with(tuple.from));
    next_hop.sll_halen = ETH_ALEN;
    std::copy(what.next_hop->begin(), what.next_hop->end(), next_hop.sll_addr);
    if (next_hop.sll_ifindex == 0)
      return setup_failed("find the interface of the source address", EADDRNOTAVAIL);
    const std::vector<std::uint8_t> packet = packet_of(what);
    if (::sendto(fd.get(), packet.data(), packet.size(), MSG_NOSIGNAL,
                 reinterpret_cast<const sockaddr*>(&next_hop), sizeof next_hop) < 0)
      return setup_failed("sendto", errno);
    return std::nullopt;
  }

  DialSink& sink_;
};

}  // namespace

std::unique_ptr<Dialer> make_detour_dialer(DialSink& sink) {
  return std::make_unique<DetourDialer>(sink);
}

}  // namespace bulkhead::probes
