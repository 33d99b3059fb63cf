#include "compiler/proof/senders.h"

#include <fmt/format.h>

#include "compiler/probe_beside_ports.h"
#include "compiler/representatives.h"
#include "policy/traffic.h"

namespace bulkhead::compiler::proof {

namespace {

constexpr std::uint8_t kTcp = 6, kUdp = 17, kIcmp = 1, kIcmp6 = 58, kSyn = 0x02;

}  // namespace

std::optional<std::pair<compiler::Transport, std::uint16_t>> probe_of(const Example& example) {
  const PacketFacts& facts = example.facts;
  const bool v4 = facts.from.family == Family::V4;
  if (facts.protocol == kTcp)
    return std::pair(compiler::Transport::Tcp, facts.dport);
  if (facts.protocol == kUdp && facts.dport != policy::kRocePort)
    return std::pair(compiler::Transport::Udp, facts.dport);
  if (facts.protocol == (v4 ? kIcmp : kIcmp6)) {
    const policy::IcmpQuery& echo = policy::kIcmpQueries[0];
    const bool is_echo =
        facts.icmp_code == 0 && facts.icmp_type == *(v4 ? echo.v4_type : echo.v6_type);
    return is_echo ? std::optional(std::pair(compiler::Transport::Icmp, std::uint16_t{0}))
                   : std::nullopt;
  }
  // Where other protocols have ports, ours has a number of its own choice, and the protocol.
  if (facts.protocol == kUdp || facts.sport != kClientPort || facts.dport != facts.protocol ||
      !can_be_sent(facts.protocol, facts.from.family))
    return std::nullopt;
  return std::pair(compiler::Transport::Raw, std::uint16_t{facts.protocol});
}

Senders::Senders(const Site& site, const EnforcerView& view) {
  for (const LegBinding& binding : view.bindings)
    legs_[binding.cls] = binding.interface;
  legs_[view.self] = "";
  const Representatives who(site, {});
  for (const ProbeEnd& end : who.ends())
    ends_.emplace(end.address, end);
}

const ProbeEnd* Senders::end_at(const Address& address, const std::string& interface) const {
  const auto [first, last] = ends_.equal_range(address);
  for (auto it = first; it != last; ++it)
    if (const auto leg = legs_.find(it->second.cls); leg != legs_.end() && leg->second == interface)
      return &it->second;
  return nullptr;
}

std::optional<std::pair<ProbeEnd, ProbeEnd>> Senders::ends(const Example& example) const {
  // The enforcer's own packets come in, or go out, by no interface.
  const ProbeEnd* from = end_at(example.facts.from, example.in);
  const ProbeEnd* to = end_at(example.facts.to, example.out);
  if (from == nullptr || to == nullptr)
    return std::nullopt;
  return std::pair(*from, *to);
}

std::string Senders::why_not(const Example& example, const std::string& others) const {
  const PacketFacts& facts = example.facts;
  if (!example.is_exact)
    return "no real packet has all of these fields";
  if (example.packet.ct_state != kCtNew)
    return "it begins no connection, and a socket sends such a packet only within one";
  if (facts.fragment)
    return "a socket does not choose its fragments";
  if (!others.empty())
    return "a socket does not choose this: " + others;
  if (facts.protocol == kTcp && facts.tcp_flags != kSyn)
    return "a socket begins with a SYN alone";
  if (!probe_of(example))
    return "bulkhead sends TCP, UDP, ICMP echo, and other protocols without a header of theirs";
  const auto found = ends(example);
  if (!found) {
    if (!ends_.contains(facts.from))
      return fmt::format("no agent has the source address {}", facts.from.str());
    if (!ends_.contains(facts.to))
      return fmt::format("no host has the destination address {}", facts.to.str());
    return "the addresses do not belong to these interfaces: it would have to be forged";
  }
  if (found->first.agentless)
    return fmt::format("no agent runs on {}", found->first.host);
  if (found->first.host == found->second.host)
    return fmt::format("both ends are {}", found->first.host);
  return "";
}

}  // namespace bulkhead::compiler::proof
