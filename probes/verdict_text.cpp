#include "probes/verdict_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "compiler/probe_forgeries.h"

namespace bulkhead::probes {
namespace {

using compiler::Expect;
using compiler::Transport;

std::string query_text(const compiler::Probe& probe) {
  const bool known = probe.port < std::size(policy::kIcmpQueries);
  return fmt::format("{}{}", known ? policy::kIcmpQueries[probe.port].name : "query",
                     probe.size == 0 ? "" : " (in fragments)");
}

std::string dropper_text(const Evidence& drop) {
  return fmt::format(
      "{}: {} in {} {}", drop.agent,
      drop.rule.empty() ? "handle " + std::to_string(drop.handle) : "rule `" + drop.rule + "`",
      drop.table.empty() ? "an unknown table" : drop.table, drop.chain);
}

std::string astray_text(const Evidence& seen) {
  if (seen.end == End::Enforcer)
    return seen.agent + " itself";
  return fmt::format("{}, by {} in {}", seen.agent, seen.interface, seen.detail);
}

std::string next_hop_text(const NextHop& hop) {
  if (!hop.link_up)
    return "its link is down";
  if (!hop.mac)
    return fmt::format("it sends to {}, which does not answer", hop.address.str());
  return fmt::format("it sends to {} at {:02x}{}", hop.address.str(), fmt::join(*hop.mac, ":"),
                     hop.permanent ? ", an entry written by hand" : "");
}

}  // namespace

std::string flow_text(const compiler::Probe& probe) {
  std::string text = fmt::format("{} {} -> {} {} {}", probe.from.host, probe.from.address.str(),
                                 probe.to.host, probe.to.address.str(), to_string(probe.transport));
  if (probe.transport == Transport::Icmp)
    return text + " " + query_text(probe);
  if (probe.transport == Transport::Raw)
    return text + fmt::format(" protocol {}", probe.port);
  text += fmt::format(" {}", probe.port);
  if (probe.sport != 0)
    text += fmt::format(" from port {}", probe.sport);
  if (probe.payload != compiler::Payload::Token)
    text += fmt::format(" ({})", to_string(probe.payload));
  else if (probe.size == compiler::kLargePayload)
    text += fmt::format(" (datagram of {} bytes, in fragments)", probe.size + sizeof(Token));
  if (probe.rule == compiler::kRuleSpoofed)
    text += " (forged source)";
  else if (probe.rule == compiler::kRuleBridged)
    text += ", in a frame to its very NIC, as if both segments were one";
  else if (!probe.detour.host.empty())
    text += fmt::format(" through {}, around every enforcer", probe.detour.host);
  return text;
}

std::string detail_text(const Sight& s) {
  if (s.attempt.round_void && !s.attempt.void_reason.empty())
    return s.attempt.void_reason;
  if (s.astray && !s.arrived() && !s.delivered_locally)
    return astray_text(*s.astray);
  if (const Evidence* drop = s.dropped_as_planned ? s.dropped_as_planned : s.dropped_otherwise)
    return dropper_text(*drop);
  if (s.forged)
    return fmt::format("{} reported token {} from {} port {}", s.forged->agent, s.forged->token,
                       s.forged->tuple.from.str(), s.forged->tuple.sport);
  if (s.translated && s.arrived()) {
    const Evidence& seen = s.token_arrived ? *s.token_arrived : *s.packet_arrived;
    return fmt::format("translated to {} port {} -> {} port {}", seen.tuple.from.str(),
                       seen.tuple.sport, seen.tuple.to.str(), seen.tuple.port);
  }
  if (s.probe_case.bridged() && s.packet_arrived)
    return fmt::format("by {}", s.packet_arrived->interface);
  if (!s.probe_case.probe.detour.host.empty() && s.probe_case.route_absent)
    return fmt::format("the kernel of {} forwards no {}", s.probe_case.probe.detour.host,
                       s.probe_case.probe.from.address.family == Family::V4 ? "IPv4" : "IPv6");
  if (!s.dialer)
    return {};
  if (s.dialer->icmp_from)
    return fmt::format("from {}, ICMP type {} code {}", s.dialer->icmp_from->str(),
                       s.dialer->icmp_type.value_or(0), s.dialer->icmp_code.value_or(0));
  if (s.dialer->next_hop && s.probe_case.silence_external && !s.sender_in_order())
    return next_hop_text(*s.dialer->next_hop);
  return s.dialer->detail;
}

std::vector<std::string> seen_text(const TryRecord& attempt) {
  std::vector<std::string> seen;
  for (const Evidence& evidence : attempt.evidence) {
    const std::string_view what = evidence.outcome == Outcome::Dropped && !evidence.rule.empty()
                                      ? std::string_view(evidence.rule)
                                      : to_string(evidence.outcome);
    std::string text = fmt::format("{}:{}:{}", to_string(evidence.end), evidence.agent, what);
    if (std::find(seen.begin(), seen.end(), text) == seen.end())
      seen.push_back(std::move(text));
  }
  return seen;
}

std::string controls_text(const Sight& s) {
  if (s.probe_case.probe.expect == Expect::Allow)
    return {};
  const int wanted = s.probe_case.probe.to.agentless ? 1 : 2;
  const int good = (s.source_good() ? 1 : 0) + (wanted == 2 && s.target_good() ? 1 : 0);
  return fmt::format("{}/{}", good, wanted);
}

}  // namespace bulkhead::probes
