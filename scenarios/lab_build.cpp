#include "scenarios/lab_build.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <iterator>
#include <span>

#include "enforcement/backends/netns_thread.h"
#include "enforcement/backends/nft.h"
#include "enforcement/backends/process.h"
#include "policy/support/handle.h"
#include "scenarios/lab_state.h"

namespace bulkhead::scenarios {

namespace {

struct Setting {
  const char* path;  // below /proc/sys/net
  const char* value;
  bool required;  // some kernels lack the others
};

// Before links exist, so that these reach each link as its default. Without duplicate address
// detection and router solicitation a link is usable at once, and nothing sends on its own account.
// Rate limits would make a gateway silent in a burst, which looks like a drop.
constexpr Setting kEverywhere[] = {
    {"ipv6/conf/all/accept_dad", "0", true},
    {"ipv6/conf/default/accept_dad", "0", true},
    {"ipv6/conf/all/accept_ra", "0", true},
    {"ipv6/conf/default/accept_ra", "0", true},
    {"ipv6/conf/default/router_solicitations", "0", true},
    {"ipv4/conf/all/rp_filter", "0", true},
    {"ipv4/conf/default/rp_filter", "0", true},
    {"ipv4/conf/all/send_redirects", "0", true},
    {"ipv4/conf/default/send_redirects", "0", true},
    {"ipv4/icmp_ratelimit", "0", true},
    {"ipv6/icmp/ratelimit", "0", true},
    {"ipv4/icmp_msgs_per_sec", "1000000", false},
    {"ipv4/icmp_msgs_burst", "1000000", false},
};

// With two NICs the kernel answers ARP for either address on both: each by its own.
constexpr Setting kManyHomed[] = {
    {"ipv4/conf/all/arp_ignore", "1", true},
    {"ipv4/conf/default/arp_ignore", "1", true},
    {"ipv4/conf/all/arp_announce", "2", true},
    {"ipv4/conf/default/arp_announce", "2", true},
};

// The fabric only bridges: it has no addresses, speaks to nobody, and no packet filter of the IP
// layer sees its frames.
constexpr Setting kFabric[] = {
    {"ipv6/conf/all/disable_ipv6", "1", true},
    {"ipv6/conf/default/disable_ipv6", "1", true},
    {"bridge/bridge-nf-call-iptables", "0", false},
    {"bridge/bridge-nf-call-ip6tables", "0", false},
    {"bridge/bridge-nf-call-arptables", "0", false},
};

Status write_setting(const std::string& relative, std::string_view value) {
  const std::string path = "/proc/sys/net/" + relative;
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file && ::write(file.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size()))
    return {};
  return fail_errno("write " + path, errno);
}

Status write_settings(std::span<const Setting> settings) {
  for (const auto& setting : settings)
    if (Status written = write_setting(setting.path, setting.value); !written && setting.required)
      return written;
  return {};
}

// A burst to a neighbour that is not resolved yet must not lose its tail. Only links have this
// setting in a namespace of one's own: kernel 6.18 keeps the default in the first one.
Status deepen_neighbour_queues(const PlannedNetns& node) {
  for (const auto& link : node.links)
    for (const char* family : {"ipv4", "ipv6"})
      if (Status written = write_setting(
              fmt::format("{}/neigh/{}/unres_qlen_bytes", family, link.interface), "4194304");
          !written)
        return written;
  return {};
}

Result<std::string> read_setting(const std::string& path) {
  const UniqueFd file(::open(("/proc/sys/net/" + path).c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 16> value{};
  const ssize_t got = file ? ::read(file.get(), value.data(), value.size()) : -1;
  if (got < 1)
    return fail_errno("read /proc/sys/net/" + path, errno);
  return std::string(value.data(), static_cast<std::size_t>(got - 1));  // without the newline
}

// The kernel itself answers "unreachable" for a route at most five times in a burst and once a
// second to each sender (ip_error, kernel 6.18, not to be set in a namespace): the rest would be
// silence. Reject is not limited so. Of IPv4, fib's type looks at local addresses alone.
constexpr const char* kAnswerUnreachable =
    "table inet lab_unreachable {\n"
    "\tchain answer {\n"
    "\t\ttype filter hook prerouting priority 0; policy accept;\n"
    "\t\tfib daddr type unicast fib daddr oif missing reject with icmpx no-route\n"
    "\t\tfib daddr type unreachable reject with icmpx no-route\n"
    "\t}\n"
    "}\n";

// Forwarding decides whether a host is a path around the enforcer: what was written is read back.
Status set_forwarding(bool on) {
  const char* value = on ? "1" : "0";
  for (const char* path : {"ipv4/ip_forward", "ipv6/conf/all/forwarding"}) {
    if (Status written = write_setting(path, value); !written)
      return written;
    const auto now = read_setting(path);
    if (!now)
      return fail(now.error());
    if (*now != value)
      return fail(ErrorKind::Environment,
                  fmt::format("/proc/sys/net/{} is {} after {} was written", path, *now, value));
  }
  return {};
}

Status run_batch(const std::string& text, const std::vector<std::string>& options = {}) {
  if (text.empty())
    return {};
  std::vector<std::string> command = {"ip"};
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(), {"-batch", "-"});
  const auto finished = enforcement::run_process(command, text);
  if (!finished)
    return fail(finished.error());
  if (finished->status != 0)
    return fail(ErrorKind::Environment, "ip -batch: " + finished->err);
  return {};
}

std::string port_name(std::size_t node, std::size_t link) {
  return fmt::format("p{}.{}", node, link);
}

std::string mac_text(const std::array<std::uint8_t, 6>& mac) {
  return fmt::format("{:02x}", fmt::join(mac, ":"));
}

std::string address_text(const InterfaceAddress& address) {
  return fmt::format("{}/{}", address.address.str(), address.length);
}

}  // namespace

std::string fabric_batch(const LabPlan& plan, const std::vector<std::string>& netns) {
  std::string text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "link set lo up\n");
  for (std::size_t b = 0; b < plan.bridges.size(); ++b)
    fmt::format_to(out,
                   "link add b{0} type bridge stp_state 0 mcast_snooping 0\n"
                   "link set b{0} up\n",
                   b);
  for (std::size_t n = 0; n < plan.nodes.size(); ++n) {
    for (std::size_t l = 0; l < plan.nodes[n].links.size(); ++l) {
      const PlannedLink& link = plan.nodes[n].links[l];
      const std::string port = port_name(n, l);
      const std::string mac = link.mac ? " address " + mac_text(*link.mac) : "";
      fmt::format_to(out, "link add {} type veth peer name {}{} netns {}\n", port, link.interface,
                     mac, netns[n]);
      fmt::format_to(out, "link set {} master b{} up\n", port, link.bridge);
      if (link.isolated)
        fmt::format_to(out, "link set {} type bridge_slave isolated on\n", port);
    }
  }
  return text;
}

std::string node_batch(const PlannedNetns& node) {
  std::string text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "link set lo up\n");
  for (const auto& link : node.links) {
    for (const auto& address : link.addresses)
      fmt::format_to(out, "address add {} dev {}{}\n", address_text(address), link.interface,
                     address.address.family == Family::V6 ? " nodad" : "");
    if (link.up)
      fmt::format_to(out, "link set {} up\n", link.interface);
  }
  for (const auto& route : node.routes) {
    const std::string table = route.table == 0 ? "" : fmt::format(" table {}", route.table);
    const std::string via = route.via ? " via " + route.via->str() : "";
    if (route.dev.empty())
      fmt::format_to(out, "route add unreachable {}{}\n", route.to.str(), table);
    else
      fmt::format_to(out, "route add {}{} dev {}{}\n", route.to.str(), via, route.dev, table);
  }
  return text;
}

std::string rule_batch(const PlannedNetns& node, Family family) {
  std::string text;
  for (const auto& rule : node.rules)
    if (rule.from.family == family)
      fmt::format_to(std::back_inserter(text), "rule add from {} lookup {} priority 1000\n",
                     rule.from.str(), rule.table);
  return text;
}

Status build_lab(const LabPlan& plan, const std::vector<std::string>& netns,
                 const std::string& fabric_netns, const std::function<Status()>& may_go_on) {
  for (std::size_t n = 0; n < plan.nodes.size(); ++n) {
    if (Status going = may_go_on(); !going)
      return going;
    const Status prepared = enforcement::run_in_netns(netns_path(netns[n]), [&]() -> Status {
      if (Status set = write_settings(kEverywhere); !set)
        return set;
      if (plan.nodes[n].links.size() > 1 && plan.nodes[n].role == Role::Host)
        if (Status set = write_settings(kManyHomed); !set)
          return set;
      return set_forwarding(plan.nodes[n].forwards);
    });
    if (!prepared)
      return fail(prepared.error().context("prepare " + plan.nodes[n].name));
  }
  const Status wired = enforcement::run_in_netns(netns_path(fabric_netns), [&]() -> Status {
    if (Status set = write_settings(kFabric); !set)
      return set;
    return run_batch(fabric_batch(plan, netns));
  });
  if (!wired)
    return fail(wired.error().context("wire the fabric"));
  for (std::size_t n = 0; n < plan.nodes.size(); ++n) {
    const PlannedNetns& node = plan.nodes[n];
    if (Status going = may_go_on(); !going)
      return going;
    const Status built = enforcement::run_in_netns(netns_path(netns[n]), [&] {
      return run_batch(node_batch(node))
          .and_then([&] { return run_batch(rule_batch(node, Family::V4), {"-4"}); })
          .and_then([&] { return run_batch(rule_batch(node, Family::V6), {"-6"}); })
          .and_then([&] { return deepen_neighbour_queues(node); });
    });
    if (!built)
      return fail(built.error().context("build " + node.name));
    if (node.role != Role::Switch)
      continue;
    const Status answering = enforcement::netns_nft(netns_path(netns[n]))->load(kAnswerUnreachable);
    if (!answering)
      return fail(answering.error().context("build " + node.name));
  }
  return {};
}

}  // namespace bulkhead::scenarios
