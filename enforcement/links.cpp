#include "enforcement/links.h"

#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "enforcement/netlink.h"

namespace bulkhead::enforcement {

namespace {

int on_link(const nlmsghdr* message, void* out) {
  const auto* const info = static_cast<const ifinfomsg*>(mnl_nlmsg_get_payload(message));
  Link link;
  link.index = static_cast<unsigned>(info->ifi_index);
  link.is_up = (info->ifi_flags & IFF_UP) != 0;
  for_each_attribute(message, sizeof(ifinfomsg), [&](const nlattr* attribute) {
    if (mnl_attr_get_type(attribute) == IFLA_IFNAME)
      link.name = mnl_attr_get_str(attribute);
    if (mnl_attr_get_type(attribute) == IFLA_LINKINFO)
      for_each_nested(attribute, [&](const nlattr* part) {
        if (mnl_attr_get_type(part) == IFLA_INFO_KIND)
          link.kind = mnl_attr_get_str(part);
      });
  });
  static_cast<std::vector<Link>*>(out)->push_back(std::move(link));
  return MNL_CB_OK;
}

int on_address(const nlmsghdr* message, void* out) {
  const auto* const info = static_cast<const ifaddrmsg*>(mnl_nlmsg_get_payload(message));
  auto& all = *static_cast<std::vector<Link>*>(out);
  const auto link = std::find_if(all.begin(), all.end(),
                                 [&](const Link& one) { return one.index == info->ifa_index; });
  if (link == all.end() || (info->ifa_family != AF_INET && info->ifa_family != AF_INET6))
    return MNL_CB_OK;
  // Of a point-to-point link IFA_ADDRESS is the peer's, of IPv6 there is no IFA_LOCAL.
  const std::uint16_t wanted = info->ifa_family == AF_INET ? IFA_LOCAL : IFA_ADDRESS;
  for_each_attribute(message, sizeof(ifaddrmsg), [&](const nlattr* attribute) {
    if (mnl_attr_get_type(attribute) != wanted)
      return;
    Address address;
    address.family = info->ifa_family == AF_INET ? Family::V4 : Family::V6;
    std::memcpy(address.bytes.data(), mnl_attr_get_payload(attribute),
                std::min<std::size_t>(mnl_attr_get_payload_len(attribute), 16));
    link->addresses.push_back(address);
  });
  return MNL_CB_OK;
}

// Errno, 0 when all was read.
int dump(std::uint16_t type, std::size_t header_size, mnl_cb_t each, std::vector<Link>& out) {
  const auto socket = open_netlink(NETLINK_ROUTE);
  if (!socket)
    return EIO;
  alignas(nlmsghdr) std::array<char, 512> buffer{};
  nlmsghdr* const header = mnl_nlmsg_put_header(buffer.data());
  header->nlmsg_type = type;
  header->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  header->nlmsg_seq = 1;
  mnl_nlmsg_put_extra_header(header, header_size);  // zeros: every family
  if (mnl_socket_sendto(socket->get(), header, header->nlmsg_len) < 0)
    return errno;
  return receive(socket->get(), 1, true, each, &out);
}

}  // namespace

Result<std::vector<Link>> links() {
  constexpr int kAttempts = 5;  // EINTR: something changed while it was listed
  int error = 0;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::vector<Link> out;
    error = dump(RTM_GETLINK, sizeof(ifinfomsg), on_link, out);
    if (error == 0)
      error = dump(RTM_GETADDR, sizeof(ifaddrmsg), on_address, out);
    if (error == 0)
      return out;
    if (error != EINTR)
      break;
  }
  return fail_errno("list network interfaces", error);
}

}  // namespace bulkhead::enforcement
