#include "enforcement/backends/nft_dump.h"

#include <netinet/in.h>  // before linux/: both define its structures

#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include <cerrno>
#include <string>
#include <vector>

#include "policy/support/handle.h"

namespace bulkhead::enforcement {

namespace {

using MnlSocket = Handle<mnl_socket, [](mnl_socket* socket) { mnl_socket_close(socket); }>;

}  // namespace

std::string_view table_family_name(int family) {
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

Status dump_nftables(std::uint16_t message, std::string_view what, mnl_cb_t each, void* out) {
  const MnlSocket socket(mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC));
  if (!socket || mnl_socket_bind(socket.get(), 0, MNL_SOCKET_AUTOPID) < 0)
    return fail_errno("open netlink socket for " + std::string(what), errno);
  // A rule's message may be as long as the kernel likes, up to this.
  std::vector<char> buffer(std::size_t{1} << 17);
  nlmsghdr* head = mnl_nlmsg_put_header(buffer.data());
  head->nlmsg_type = static_cast<std::uint16_t>(NFNL_SUBSYS_NFTABLES << 8 | message);
  head->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  head->nlmsg_seq = 1;
  auto* subsystem = static_cast<nfgenmsg*>(mnl_nlmsg_put_extra_header(head, sizeof(nfgenmsg)));
  subsystem->nfgen_family = NFPROTO_UNSPEC;
  subsystem->version = NFNETLINK_V0;
  if (mnl_socket_sendto(socket.get(), head, head->nlmsg_len) < 0)
    return fail_errno("ask for " + std::string(what), errno);
  for (;;) {
    const ssize_t got = mnl_socket_recvfrom(socket.get(), buffer.data(), buffer.size());
    if (got < 0)
      return fail_errno("read " + std::string(what), errno);
    const int more = mnl_cb_run(buffer.data(), static_cast<std::size_t>(got), 1,
                                mnl_socket_get_portid(socket.get()), each, out);
    if (more < 0)
      return fail_errno("read " + std::string(what), errno);
    if (more == MNL_CB_STOP)
      return {};
  }
}

}  // namespace bulkhead::enforcement
