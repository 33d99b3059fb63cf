#include "enforcement/environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "enforcement/links.h"

namespace bulkhead::enforcement {

namespace {

// "ipv4/conf/bond0.101/rp_filter": names of interfaces may have dots, so it is a path and no name.
std::optional<int> read_switch(const std::string& path) {
  std::ifstream file("/proc/sys/net/" + path);
  int value = 0;
  if (!(file >> value))
    return std::nullopt;
  return value;
}

class Facts {
 public:
  Facts(const compiler::Site& site, const compiler::EnforcerView& view)
      : site_(site), enforcer_(site.inventory.enforcers.at(view.enforcer)) {}

  std::vector<EnvironmentFact> run() {
    auto all = links();
    if (!all) {
      out_.push_back({"interfaces", "unknown", "known", all.error().message});
      return std::move(out_);
    }
    links_ = std::move(*all);
    bridges();
    for (const compiler::Leg& leg : enforcer_.legs)
      if (has_link(leg))
        switches(leg);
    machine();
    return std::move(out_);
  }

 private:
  void want(const std::string& path, int should, const std::string& why) {
    const auto is = read_switch(path);
    if (is && *is != should)
      out_.push_back({"net/" + path, std::to_string(*is), std::to_string(should), why});
  }

  const Link* find(const std::string& name) const {
    const auto found = std::find_if(links_.begin(), links_.end(),
                                    [&](const Link& link) { return link.name == name; });
    return found == links_.end() ? nullptr : &*found;
  }
  const Link* holder_of(const compiler::Leg& leg) const {
    for (const Link& link : links_)
      for (const auto& wanted : {leg.v4, leg.v6})
        if (wanted && std::find(link.addresses.begin(), link.addresses.end(), wanted->address) !=
                          link.addresses.end())
          return &link;
    return nullptr;
  }

  bool has_link(const compiler::Leg& leg) {
    const std::string what = "interface " + leg.interface;
    if (const Link* const link = find(leg.interface)) {
      if (!link->is_up)
        out_.push_back({what, "down", "up", "what the policy allows over it does not flow"});
      return true;
    }
    const Link* const other = holder_of(leg);
    out_.push_back({what, other != nullptr ? "called " + other->name : "gone", "there",
                    "rules name it: what comes in by another name is from nobody, and dropped"});
    return false;
  }

  // Without a bridge in this namespace nothing is bridged.
  void bridges() {
    if (std::none_of(links_.begin(), links_.end(),
                     [](const Link& link) { return link.kind == "bridge"; }))
      return;
    for (const char* name : {"iptables", "ip6tables", "arptables"})
      want(fmt::format("bridge/bridge-nf-call-{}", name), 0,
           "frames that are only bridged pass these rules too, as if they were routed");
  }

  void switches(const compiler::Leg& leg) {
    const std::string v4 = "ipv4/conf/" + leg.interface + "/";
    const std::string v6 = "ipv6/conf/" + leg.interface + "/";
    if (leg.v4)
      want(v4 + "forwarding", 1, "nothing of IPv4 that comes in here is routed");
    if (leg.v6)
      want(v6 + "forwarding", 1, "nothing of IPv6 that comes in here is routed");
    want(v4 + "route_localnet", 0, "127/8 can be reached from outside");
    want(v4 + "proxy_arp", 0, "this machine answers ARP for others' addresses");
    want(v6 + "proxy_ndp", 0, "this machine answers neighbour solicitations for others");
    reverse_path(leg);
    both_say("accept_source_route", leg, "a sender chooses the way of its packets");
    both_say("accept_redirects", leg, "a host on the link can change routes");
  }

  // The larger of the two counts (Documentation/networking/ip-sysctl.rst).
  void reverse_path(const compiler::Leg& leg) {
    const auto all = read_switch("ipv4/conf/all/rp_filter");
    const auto own = read_switch("ipv4/conf/" + leg.interface + "/rp_filter");
    if (all && own && std::max(*all, *own) == 1)
      out_.push_back({fmt::format("net/ipv4/conf/{{all,{}}}/rp_filter", leg.interface), "1",
                      "0 or 2",
                      "packets are dropped before any rule where the way back is another one"});
  }

  // With forwarding both have to say so; without it the machine is no router, which is told.
  void both_say(const char* name, const compiler::Leg& leg, const char* why) {
    const auto all = read_switch(fmt::format("ipv4/conf/all/{}", name));
    const auto own = read_switch(fmt::format("ipv4/conf/{}/{}", leg.interface, name));
    if (all && own && *all == 1 && *own == 1)
      out_.push_back(
          {fmt::format("net/ipv4/conf/{{all,{}}}/{}", leg.interface, name), "1", "0", why});
  }

  void machine() {
    const bool has_v6 = std::any_of(enforcer_.legs.begin(), enforcer_.legs.end(),
                                    [](const compiler::Leg& leg) { return leg.v6.has_value(); });
    want("ipv4/ip_forward", 1, "nothing of IPv4 is routed, whatever the policy allows");
    if (has_v6)
      want("ipv6/conf/all/forwarding", 1, "nothing of IPv6 is routed, whatever the policy allows");
    want("ipv4/conf/all/route_localnet", 0, "127/8 can be reached from outside");
    want("ipv4/conf/all/proxy_arp", 0, "this machine answers ARP for others' addresses");
    want("ipv6/conf/all/proxy_ndp", 0, "this machine answers neighbour solicitations for others");
    want("netfilter/nf_conntrack_helper", 0,
         "helpers expect connections that no flow of the policy names");
    if (!site_.policy.vrfs.empty())
      for (const char* name : {"tcp_l3mdev_accept", "udp_l3mdev_accept"})
        want(fmt::format("ipv4/{}", name), 0, "services of this machine answer in every VRF");
  }

  const compiler::Site& site_;
  const compiler::Enforcer& enforcer_;
  std::vector<Link> links_;
  std::vector<EnvironmentFact> out_;
};

}  // namespace

std::string to_string(const EnvironmentFact& fact) {
  return fmt::format("{} is {}, should be {}: {}", fact.what, fact.is, fact.should, fact.why);
}

std::vector<EnvironmentFact> environment(const compiler::Site& site,
                                         const compiler::EnforcerView& view) {
  return Facts(site, view).run();
}

}  // namespace bulkhead::enforcement
