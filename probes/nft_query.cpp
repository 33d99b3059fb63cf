#include "probes/nft_query.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <functional>
#include <string_view>

#include "policy/support/handle.h"

namespace bulkhead::probes {
namespace {

std::string_view family_name(std::uint8_t family) {
  switch (family) {
    case NFPROTO_INET:
      return "inet";
    case NFPROTO_IPV4:
      return "ip";
    case NFPROTO_IPV6:
      return "ip6";
    case NFPROTO_ARP:
      return "arp";
    case NFPROTO_NETDEV:
      return "netdev";
    case NFPROTO_BRIDGE:
      return "bridge";
  }
  return "?";
}

std::string_view hook_name(std::uint8_t family, std::uint32_t hook) {
  constexpr std::string_view kInet[] = {"prerouting", "input",       "forward",
                                        "output",     "postrouting", "ingress"};
  constexpr std::string_view kNetdev[] = {"ingress", "egress"};
  if (family == NFPROTO_NETDEV)
    return hook < std::size(kNetdev) ? kNetdev[hook] : "?";
  return hook < std::size(kInet) ? kInet[hook] : "?";
}

// Sends one request and gives the first answer of type `answer` to `read`.
void ask(std::uint16_t request, std::uint8_t family, std::uint16_t answer,
         const std::function<void(nlmsghdr*)>& add,
         const std::function<void(const nlmsghdr*)>& read) {
  const UniqueFd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER));
  if (!fd)
    return;
  const timeval patience{1, 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  alignas(nlmsghdr) std::array<char, 8192> buffer{};
  nlmsghdr* message = mnl_nlmsg_put_header(buffer.data());
  message->nlmsg_type = static_cast<std::uint16_t>(NFNL_SUBSYS_NFTABLES << 8 | request);
  message->nlmsg_flags = NLM_F_REQUEST;
  auto* header = static_cast<nfgenmsg*>(mnl_nlmsg_put_extra_header(message, sizeof(nfgenmsg)));
  header->nfgen_family = family;
  header->version = NFNETLINK_V0;
  add(message);
  if (::send(fd.get(), message, message->nlmsg_len, 0) < 0)
    return;
  const ssize_t got = ::recv(fd.get(), buffer.data(), buffer.size(), 0);
  int left = static_cast<int>(got);
  const auto* reply = reinterpret_cast<const nlmsghdr*>(buffer.data());
  if (got > 0 && mnl_nlmsg_ok(reply, left) &&
      reply->nlmsg_type == (NFNL_SUBSYS_NFTABLES << 8 | answer))
    read(reply);
}

}  // namespace

std::string ChainKey::table_name() const {
  return std::string(family_name(family)) + ' ' + table;
}

const std::string& ChainHooks::hook_of(const ChainKey& chain) {
  const auto known = known_.find(chain);
  if (known != known_.end())
    return known->second;
  std::string& hook = known_[chain];
  ask(
      NFT_MSG_GETCHAIN, chain.family, NFT_MSG_NEWCHAIN,
      [&](nlmsghdr* message) {
        mnl_attr_put_strz(message, NFTA_CHAIN_TABLE, chain.table.c_str());
        mnl_attr_put_strz(message, NFTA_CHAIN_NAME, chain.chain.c_str());
      },
      [&](const nlmsghdr* reply) {
        const auto attributes = read_attributes<NFTA_CHAIN_MAX>(reply);
        if (attributes[NFTA_CHAIN_HOOK] == nullptr)
          return;
        const auto nested = read_nested<NFTA_HOOK_MAX>(attributes[NFTA_CHAIN_HOOK]);
        if (nested[NFTA_HOOK_HOOKNUM] != nullptr)
          hook = hook_name(chain.family, ntohl(mnl_attr_get_u32(nested[NFTA_HOOK_HOOKNUM])));
      });
  return hook;
}

std::uint32_t ruleset_generation() {
  std::uint32_t generation = 0;
  ask(
      NFT_MSG_GETGEN, NFPROTO_UNSPEC, NFT_MSG_NEWGEN, [](nlmsghdr*) {},
      [&](const nlmsghdr* reply) {
        const auto attributes = read_attributes<NFTA_GEN_MAX>(reply);
        if (attributes[NFTA_GEN_ID] != nullptr)
          generation = ntohl(mnl_attr_get_u32(attributes[NFTA_GEN_ID]));
      });
  return generation;
}

}  // namespace bulkhead::probes
