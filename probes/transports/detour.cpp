// A datagram to a next hop that is not the sender's own choice: whether a host between two segments
// forwards, or whether an enforcer takes a source that is not the sender's. A packet socket frames
// it, so no route, rule or neighbour entry of the sender changes, and its own firewall has no word
// in it. No socket waits for an answer: arrival is all there is to see.
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "probes/transports/socket_tools.h"
#include "probes/transports/whole_packet.h"

namespace bulkhead::probes {
namespace {

// The interface that holds it. Where none does the source is forged, and it is sent by each: the
// frame names one NIC of one segment, and nobody else takes it.
std::vector<unsigned> interfaces_for(const Address& address) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0)
    return {};
  std::vector<unsigned> all;
  std::vector<unsigned> holder;
  for (const ifaddrs* entry = list; entry != nullptr && holder.empty(); entry = entry->ifa_next) {
    const unsigned index = ::if_nametoindex(entry->ifa_name);
    const bool usable = (entry->ifa_flags & IFF_UP) != 0 && (entry->ifa_flags & IFF_LOOPBACK) == 0;
    if (usable && std::find(all.begin(), all.end(), index) == all.end())
      all.push_back(index);
    const int family = entry->ifa_addr != nullptr ? entry->ifa_addr->sa_family : AF_UNSPEC;
    if (family != AF_INET && family != AF_INET6)
      continue;
    SocketAddress own;
    own.length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    std::copy_n(reinterpret_cast<const std::uint8_t*>(entry->ifa_addr), own.length,
                reinterpret_cast<std::uint8_t*>(&own.storage));
    if (from_socket_address(own).first == address)
      holder.push_back(index);
  }
  ::freeifaddrs(list);
  return holder.empty() ? all : holder;
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
    next_hop.sll_halen = ETH_ALEN;
    std::copy(what.next_hop->begin(), what.next_hop->end(), next_hop.sll_addr);
    const std::vector<std::uint8_t> packet = whole_packet(what);
    int error = EADDRNOTAVAIL;
    bool sent = false;
    for (const unsigned index : interfaces_for(tuple.from)) {
      next_hop.sll_ifindex = static_cast<int>(index);
      if (::sendto(fd.get(), packet.data(), packet.size(), MSG_NOSIGNAL,
                   reinterpret_cast<const sockaddr*>(&next_hop), sizeof next_hop) < 0)
        error = errno;
      else
        sent = true;
    }
    if (!sent)
      return setup_failed("send a frame", error);
    return std::nullopt;
  }

  DialSink& sink_;
};

}  // namespace

std::unique_ptr<Dialer> make_detour_dialer(DialSink& sink) {
  return std::make_unique<DetourDialer>(sink);
}

}  // namespace bulkhead::probes
