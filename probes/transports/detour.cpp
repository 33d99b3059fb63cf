// A packet in a frame to a NIC that is not the sender's own choice: whether a host between two
// segments forwards, whether an enforcer takes a source that is not the sender's, whether two
// segments are one. A packet socket sends it, so no route, rule or neighbour entry of the sender
// changes, and its own firewall has no word in it. No socket waits for an answer: arrival is all
// there is to see.
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

// The interface that holds it; where none does the source is forged, and it is sent by each.
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

constexpr Mac kEverybody{0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

sockaddr_ll frame_address(Family family, const Mac& to, unsigned interface) {
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(family == Family::V4 ? ETH_P_IP : ETH_P_IPV6);
  address.sll_ifindex = static_cast<int>(interface);
  address.sll_halen = ETH_ALEN;
  std::copy(to.begin(), to.end(), address.sll_addr);
  return address;
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
    // Protocol 0: nothing is received.
    const UniqueFd fd(::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!fd)
      return setup_failed("packet socket", errno);
    std::vector<Mac> receivers{what.frame->to};
    if (what.frame->broadcast)
      receivers.push_back(kEverybody);
    const std::vector<std::uint8_t> packet = whole_packet(what);
    int error = EADDRNOTAVAIL;
    bool sent = false;
    for (const unsigned index : interfaces_of(what)) {
      for (const Mac& to : receivers) {
        const sockaddr_ll address = frame_address(what.what.tuple.from.family, to, index);
        if (::sendto(fd.get(), packet.data(), packet.size(), MSG_NOSIGNAL,
                     reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0)
          error = errno;
        else
          sent = true;
      }
    }
    if (!sent)
      return setup_failed("send a frame", error);
    return std::nullopt;
  }

  // The one that the plan names. The lab's outside worlds have other ones than the plan's.
  static std::vector<unsigned> interfaces_of(const DialTry& what) {
    const unsigned named = ::if_nametoindex(what.frame->nic.c_str());
    return named != 0 ? std::vector{named} : interfaces_for(what.what.tuple.from);
  }

  DialSink& sink_;
};

}  // namespace

std::unique_ptr<Dialer> make_detour_dialer(DialSink& sink) {
  return std::make_unique<DetourDialer>(sink);
}

}  // namespace bulkhead::probes
