#include "probes/nft_query.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include <functional>
#include <string_view>

#include "probes/netlink.h"

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

// Asks nf_tables.
void ask(std::uint16_t request, std::uint8_t family, std::uint16_t answer,
         const std::function<void(nlmsghdr*)>& add,
         const std::function<void(const nlmsghdr*)>& read) {
  const auto type_of = [](std::uint16_t type) {
    return static_cast<std::uint16_t>(NFNL_SUBSYS_NFTABLES << 8 | type);
  };
  const NetlinkRequest message(type_of(request));
  auto* header =
      static_cast<nfgenmsg*>(mnl_nlmsg_put_extra_header(message.header, sizeof(nfgenmsg)));
  header->nfgen_family = family;
  header->version = NFNETLINK_V0;
  add(message.header);
  ask_netlink(NETLINK_NETFILTER, message, type_of(answer), read);
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
        const auto attributes = read_attributes<NFTA_CHAIN_MAX, nfgenmsg>(reply);
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
        const auto attributes = read_attributes<NFTA_GEN_MAX, nfgenmsg>(reply);
        if (attributes[NFTA_GEN_ID] != nullptr)
          generation = ntohl(mnl_attr_get_u32(attributes[NFTA_GEN_ID]));
      });
  return generation;
}

}  // namespace bulkhead::probes
