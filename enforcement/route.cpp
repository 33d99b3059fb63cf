#include <linux/rtnetlink.h>
#include <net/if.h>

#include <array>

#include "enforcement/lockout.h"
#include "enforcement/netlink.h"

namespace bulkhead::enforcement {

namespace {

int on_route(const nlmsghdr* message, void* out) {
  for_each_attribute(message, sizeof(rtmsg), [&](const nlattr* attribute) {
    if (mnl_attr_get_type(attribute) == RTA_OIF)
      *static_cast<unsigned*>(out) = mnl_attr_get_u32(attribute);
  });
  return MNL_CB_OK;
}

}  // namespace

std::string interface_towards(const Address& address) {
  const auto socket = open_netlink(NETLINK_ROUTE);
  if (!socket)
    return {};
  alignas(nlmsghdr) std::array<char, 512> buffer{};
  nlmsghdr* const header = mnl_nlmsg_put_header(buffer.data());
  header->nlmsg_type = RTM_GETROUTE;
  header->nlmsg_flags = NLM_F_REQUEST;
  header->nlmsg_seq = 1;
  auto* const route = static_cast<rtmsg*>(mnl_nlmsg_put_extra_header(header, sizeof(rtmsg)));
  const bool is_v4 = address.family == Family::V4;
  route->rtm_family = is_v4 ? AF_INET : AF_INET6;
  route->rtm_dst_len = static_cast<unsigned char>(bits(address.family));
  mnl_attr_put(header, RTA_DST, is_v4 ? 4 : 16, address.bytes.data());
  if (mnl_socket_sendto(socket->get(), header, header->nlmsg_len) < 0)
    return {};
  unsigned index = 0;
  if (receive(socket->get(), 1, false, on_route, &index) != 0)
    return {};
  std::array<char, IF_NAMESIZE> name{};
  return ::if_indextoname(index, name.data()) != nullptr ? name.data() : std::string();
}

}  // namespace bulkhead::enforcement
