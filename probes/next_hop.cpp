#include "probes/next_hop.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>

#include "policy/support/handle.h"
#include "probes/netlink.h"

namespace bulkhead::probes {
namespace {

std::uint8_t family_number(Family family) {
  return family == Family::V4 ? AF_INET : AF_INET6;
}

std::size_t byte_count(Family family) {
  return static_cast<std::size_t>(bits(family)) / 8;
}

void put(const NetlinkRequest& request, std::uint16_t type, const Address& address) {
  mnl_attr_put(request.header, type, byte_count(address.family), address.bytes.data());
}

// Up, and with a carrier.
bool link_works(unsigned interface) {
  ifreq request{};
  const UniqueFd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return fd && ::if_indextoname(interface, request.ifr_name) != nullptr &&
         ::ioctl(fd.get(), SIOCGIFFLAGS, &request) == 0 && (request.ifr_flags & IFF_UP) != 0 &&
         (request.ifr_flags & IFF_RUNNING) != 0;
}

// What the neighbour's entry says, where there is one. Asked for one alone: Linux 5.0.
void read_neighbour(unsigned interface, NextHop& hop) {
  NetlinkRequest request(RTM_GETNEIGH);
  auto* header = static_cast<ndmsg*>(mnl_nlmsg_put_extra_header(request.header, sizeof(ndmsg)));
  header->ndm_family = family_number(hop.address.family);
  header->ndm_ifindex = static_cast<int>(interface);
  put(request, NDA_DST, hop.address);
  ask_netlink(NETLINK_ROUTE, request, RTM_NEWNEIGH, [&](const nlmsghdr* reply) {
    const auto* entry = static_cast<const ndmsg*>(mnl_nlmsg_get_payload(reply));
    hop.permanent = (entry->ndm_state & NUD_PERMANENT) != 0;
    const auto attributes = read_attributes<NDA_MAX, ndmsg>(reply);
    const nlattr* mac = attributes[NDA_LLADDR];
    // InfiniBand's are longer, and are not compared.
    if (mac == nullptr || mnl_attr_get_payload_len(mac) != Mac{}.size())
      return;
    hop.mac.emplace();
    std::copy_n(static_cast<const std::uint8_t*>(mnl_attr_get_payload(mac)), hop.mac->size(),
                hop.mac->begin());
  });
}

}  // namespace

std::optional<NextHop> next_hop_of(const Address& from, const Address& to) {
  NetlinkRequest request(RTM_GETROUTE);
  auto* header = static_cast<rtmsg*>(mnl_nlmsg_put_extra_header(request.header, sizeof(rtmsg)));
  header->rtm_family = family_number(to.family);
  header->rtm_dst_len = static_cast<std::uint8_t>(bits(to.family));
  header->rtm_src_len = header->rtm_dst_len;
  put(request, RTA_DST, to);
  put(request, RTA_SRC, from);
  NextHop hop;
  hop.address = to;
  unsigned interface = 0;
  ask_netlink(NETLINK_ROUTE, request, RTM_NEWROUTE, [&](const nlmsghdr* reply) {
    const auto attributes = read_attributes<RTA_MAX, rtmsg>(reply);
    if (attributes[RTA_OIF] != nullptr)
      interface = mnl_attr_get_u32(attributes[RTA_OIF]);
    const nlattr* via = attributes[RTA_GATEWAY];
    if (via == nullptr || mnl_attr_get_payload_len(via) != byte_count(to.family))
      return;
    std::copy_n(static_cast<const std::uint8_t*>(mnl_attr_get_payload(via)), byte_count(to.family),
                hop.address.bytes.begin());
  });
  if (interface == 0)
    return std::nullopt;
  hop.link_up = link_works(interface);
  read_neighbour(interface, hop);
  return hop;
}

}  // namespace bulkhead::probes
