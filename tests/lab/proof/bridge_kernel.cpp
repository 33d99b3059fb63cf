#include "bridge_kernel.h"

#include <net/if.h>
#include <sched.h>

#include <linux/if_tun.h>

#include "enforcement/backends/nft_rule_loads.h"
#include "taps.h"

namespace bulkhead::test {

BridgeKernel::BridgeKernel() {
  if (::unshare(CLONE_NEWNET) != 0)
    give_up("make a network namespace");
  in_ = open_tap("b0", IFF_TAP);
  out_ = open_tap("b1", IFF_TAP);
  // Nothing but the frames of a test: no listener reports, no neighbours.
  set_sysctl("ipv6/conf/all/disable_ipv6", "1");
  set_sysctl("ipv6/conf/default/disable_ipv6", "1");
  // Chains of the IP families see no frames.
  set_sysctl("bridge/bridge-nf-call-iptables", "0");
  set_sysctl("bridge/bridge-nf-call-ip6tables", "0");
  set_sysctl("bridge/bridge-nf-call-arptables", "0");
  run("ip link add br0 type bridge mcast_snooping 0 && ip link set b0 master br0 && "
      "ip link set b1 master br0 && ip link set b0 up && ip link set b1 up && ip link set br0 up");
  nft_ = enforcement::netns_nft("");
}

Status BridgeKernel::load(const std::string& nft_text) {
  return nft_->load("flush ruleset\n" + nft_text);
}

Result<std::string> BridgeKernel::list() {
  return nft_->list_json();
}

Result<std::string> BridgeKernel::loads() {
  return enforcement::rule_loads();
}

bool BridgeKernel::passes(const std::vector<std::uint8_t>& frame) {
  read_all(out_.get(), [](const std::vector<std::uint8_t>&) {});
  if (::write(in_.get(), frame.data(), frame.size()) != static_cast<ssize_t>(frame.size()))
    give_up("write a frame to a tap");
  bool came = false;
  read_all(out_.get(), [&](const std::vector<std::uint8_t>& out) { came |= out == frame; });
  return came;
}

compiler::proof::Device BridgeKernel::in() {
  return {"b0", ::if_nametoindex("b0"), 0, 1};
}
compiler::proof::Device BridgeKernel::out() {
  return {"b1", ::if_nametoindex("b1"), 0, 1};
}

}  // namespace bulkhead::test
