#include "enforcement/backends/nft_tables.h"

#include <netinet/in.h>  // before linux/: both define its structures

#include <libmnl/libmnl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "policy/support/handle.h"

namespace bulkhead::enforcement {

namespace {

using MnlSocket = Handle<mnl_socket, [](mnl_socket* socket) { mnl_socket_close(socket); }>;

std::string_view family_name(int family) {
  switch (family) {
    case NFPROTO_INET:
      return "inet";
    case NFPROTO_IPV6:
      return "ip6";
    case NFPROTO_ARP:
      return "arp";
    case NFPROTO_BRIDGE:
      return "bridge";
    case NFPROTO_NETDEV:
      return "netdev";
    default:
      return "ip";
  }
}

struct Found {
  std::string name;
  std::uint32_t flags = 0;
};

int on_attribute(const nlattr* attribute, void* out) {
  auto& found = *static_cast<Found*>(out);
  if (mnl_attr_get_type(attribute) == NFTA_TABLE_NAME)
    found.name = mnl_attr_get_str(attribute);
  else if (mnl_attr_get_type(attribute) == NFTA_TABLE_FLAGS)
    found.flags = ntohl(mnl_attr_get_u32(attribute));
  return MNL_CB_OK;
}

int on_table(const nlmsghdr* message, void* out) {
  Found found;
  const auto* head = static_cast<const nfgenmsg*>(mnl_nlmsg_get_payload(message));
  const int parsed = mnl_attr_parse(message, sizeof(nfgenmsg), on_attribute, &found);
  if (parsed >= 0 && (found.flags & NFT_TABLE_F_DORMANT) != 0)
    static_cast<std::vector<std::string>*>(out)->push_back(
        std::string(family_name(head->nfgen_family)) + ' ' + found.name);
  return parsed;
}

}  // namespace

Result<std::vector<std::string>> dormant_tables() {
  const MnlSocket socket(mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC));
  if (!socket || mnl_socket_bind(socket.get(), 0, MNL_SOCKET_AUTOPID) < 0)
    return fail_errno("open netlink socket for the tables", errno);
  alignas(nlmsghdr) std::array<char, MNL_NLMSG_HDRLEN + 8192> buffer;
  nlmsghdr* message = mnl_nlmsg_put_header(buffer.data());
  message->nlmsg_type = (NFNL_SUBSYS_NFTABLES << 8) | NFT_MSG_GETTABLE;
  message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  message->nlmsg_seq = 1;
  auto* subsystem = static_cast<nfgenmsg*>(mnl_nlmsg_put_extra_header(message, sizeof(nfgenmsg)));
  subsystem->nfgen_family = NFPROTO_UNSPEC;
  subsystem->version = NFNETLINK_V0;
  if (mnl_socket_sendto(socket.get(), message, message->nlmsg_len) < 0)
    return fail_errno("ask for the tables", errno);
  std::vector<std::string> dormant;
  for (;;) {
    const ssize_t got = mnl_socket_recvfrom(socket.get(), buffer.data(), buffer.size());
    if (got < 0)
      return fail_errno("read the tables", errno);
    const int more = mnl_cb_run(buffer.data(), static_cast<std::size_t>(got), 1,
                                mnl_socket_get_portid(socket.get()), on_table, &dormant);
    if (more < 0)
      return fail_errno("read the tables", errno);
    if (more == MNL_CB_STOP)
      return dormant;
  }
}

}  // namespace bulkhead::enforcement
