#include "kernel.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip6.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <libmnl/libmnl.h>
#include <linux/if_tun.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "enforcement/backends/nft_rule_loads.h"
#include "taps.h"

namespace bulkhead::test {

namespace {

using compiler::proof::kEtherIp;
using compiler::proof::kEtherIp6;

constexpr std::array<std::uint8_t, 6> kOwnMac{2, 0, 0, 0, 0, 1}, kPeerMac{2, 0, 0, 0, 0, 0x10};
constexpr std::array<int, 6> kProtocols{1, 6, 17, 50, 58, 132};

UniqueFd raw_socket(int family, int protocol) {
  UniqueFd socket(::socket(family, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol));
  if (!socket)
    give_up("open a raw socket");
  return socket;
}

}  // namespace

std::string Kernel::missing() {
  if (::geteuid() != 0)
    return "needs root";
  if (::access("/dev/net/tun", R_OK | W_OK) != 0)
    return "needs /dev/net/tun";
  return {};
}

Kernel::Kernel() {
  if (::unshare(CLONE_NEWNET) != 0)
    give_up("make a network namespace");
  for (const char* key : {"ipv6/conf/default/accept_dad", "ipv6/conf/default/router_solicitations",
                          "ipv4/conf/default/rp_filter", "ipv4/conf/all/rp_filter",
                          "ipv4/icmp_ratelimit", "ipv6/icmp/ratelimit"})
    set_sysctl(key, "0");
  left_ = open_tap(kLeftName, IFF_TAP);
  right_ = open_tap(kRightName, IFF_TUN);
  run("ip link set lo up && ip link set t0 address 02:00:00:00:00:01 group 7 && "
      "ip link set t0 up && ip link set t1 up && "
      "ip addr add 10.1.0.1/16 dev t0 && ip addr add fd01::1/64 dev t0 nodad && "
      "ip addr add 10.2.0.1/16 dev t1 && ip addr add fd02::1/64 dev t1 nodad && "
      "for i in 10 11 12; do "
      "ip neigh add 10.1.0.$i lladdr 02:00:00:00:00:10 dev t0 nud permanent && "
      "ip neigh add fd01::$i lladdr 02:00:00:00:00:10 dev t0 nud permanent; done");
  set_sysctl("ipv4/ip_forward", "1");
  set_sysctl("ipv6/conf/all/forwarding", "1");
  // Sequence numbers are all zero here; flags alone make a state.
  set_sysctl("netfilter/nf_conntrack_tcp_be_liberal", "1");
  send4_ = raw_socket(AF_INET, IPPROTO_RAW);
  send6_ = raw_socket(AF_INET6, IPPROTO_RAW);
  for (const int protocol : kProtocols) {
    receivers_.push_back(raw_socket(AF_INET, protocol));
    receivers_.push_back(raw_socket(AF_INET6, protocol));
  }
  nft_ = enforcement::netns_nft("");
}

Status Kernel::load(const std::string& nft_text) {
  return nft_->load("flush ruleset\n" + nft_text);
}

Result<std::string> Kernel::list() {
  return nft_->list_json();
}

Result<std::string> Kernel::loads() {
  return enforcement::rule_loads();
}

void Kernel::forget_connections() {
  mnl_socket* socket = mnl_socket_open(NETLINK_NETFILTER);
  if (socket == nullptr || mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0)
    give_up("open netlink for conntrack");
  alignas(nlmsghdr) std::array<char, 4096> buffer;
  nlmsghdr* message = mnl_nlmsg_put_header(buffer.data());
  message->nlmsg_type = (NFNL_SUBSYS_CTNETLINK << 8) | IPCTNL_MSG_CT_DELETE;
  message->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
  auto* head = static_cast<nfgenmsg*>(mnl_nlmsg_put_extra_header(message, sizeof(nfgenmsg)));
  head->nfgen_family = AF_UNSPEC;
  head->version = NFNETLINK_V0;
  if (mnl_socket_sendto(socket, message, message->nlmsg_len) < 0 ||
      mnl_socket_recvfrom(socket, buffer.data(), buffer.size()) < 0)
    give_up("flush connections");
  mnl_socket_close(socket);
}

void Kernel::drain() {
  const auto ignore = [](const std::vector<std::uint8_t>&) {};
  read_all(left_.get(), ignore);
  read_all(right_.get(), ignore);
  for (const UniqueFd& receiver : receivers_)
    read_all(receiver.get(), ignore);
}

Seen Kernel::inject(Side side, const std::vector<std::uint8_t>& packet, const std::string& token) {
  drain();
  const bool v6 = packet[0] >> 4 == 6;
  if (side == Side::Local) {
    sockaddr_in to4{};
    to4.sin_family = AF_INET;
    std::memcpy(&to4.sin_addr, packet.data() + 16, 4);
    sockaddr_in6 to6{};
    to6.sin6_family = AF_INET6;
    if (v6)
      std::memcpy(&to6.sin6_addr, packet.data() + 24, 16);
    // A refusal (EPERM) is an answer: nothing comes out.
    if (v6)
      static_cast<void>(::sendto(send6_.get(), packet.data(), packet.size(), 0,
                                 reinterpret_cast<const sockaddr*>(&to6), sizeof to6));
    else
      static_cast<void>(::sendto(send4_.get(), packet.data(), packet.size(), 0,
                                 reinterpret_cast<const sockaddr*>(&to4), sizeof to4));
  } else {
    std::vector<std::uint8_t> frame;
    if (side == Side::Left)
      frame = link_header(v6 ? kEtherIp6 : kEtherIp);
    frame.insert(frame.end(), packet.begin(), packet.end());
    const int fd = side == Side::Left ? left_.get() : right_.get();
    if (::write(fd, frame.data(), frame.size()) != static_cast<ssize_t>(frame.size()))
      give_up("write a packet to a device");
  }
  Seen seen;
  const auto keep = [&](std::vector<std::uint8_t> bytes, bool& where) {
    // An ICMP error of this machine's quotes the packet, token and all, and is longer.
    if (bytes.size() != packet.size() || !ends_with(bytes, token))
      return;
    where = true;
    seen.bytes = std::move(bytes);
  };
  read_all(left_.get(), [&](std::vector<std::uint8_t> frame) {
    if (frame.size() > 14) {
      frame.erase(frame.begin(), frame.begin() + 14);
      keep(std::move(frame), seen.left);
    }
  });
  read_all(right_.get(),
           [&](std::vector<std::uint8_t> bytes) { keep(std::move(bytes), seen.right); });
  for (const UniqueFd& receiver : receivers_)
    read_all(receiver.get(), [&](const std::vector<std::uint8_t>& bytes) {
      // A packet of this machine's own comes back only inside an ICMP error.
      seen.local |= side != Side::Local && ends_with(bytes, token);
    });
  return seen;
}

compiler::proof::Device Kernel::device(Side side) const {
  if (side == Side::Left)
    return {kLeftName, ::if_nametoindex(kLeftName), kLeftGroup, 1};
  return {kRightName, ::if_nametoindex(kRightName), 0, 65534};
}

std::vector<std::uint8_t> Kernel::link_header(std::uint16_t ethertype) const {
  std::vector<std::uint8_t> header(14);
  std::copy(kOwnMac.begin(), kOwnMac.end(), header.begin());
  std::copy(kPeerMac.begin(), kPeerMac.end(), header.begin() + 6);
  header[12] = static_cast<std::uint8_t>(ethertype >> 8);
  header[13] = static_cast<std::uint8_t>(ethertype);
  return header;
}

}  // namespace bulkhead::test
