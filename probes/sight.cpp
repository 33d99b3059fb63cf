#include "probes/sight.h"

#include <algorithm>
#include <cerrno>

#include "probes/identity.h"

namespace bulkhead::probes {
namespace {

using compiler::Transport;

template <class T>
bool contains(const std::vector<T>& all, const T& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// A capture may see no token (an initial sequence number that a middlebox replaced), but then the
// 5-tuple, which no other exchange of the run has, must be exact.
bool is_this_token(const Evidence& evidence, const TryRecord& attempt) {
  if (evidence.token.empty() && evidence.outcome != Outcome::TokenSeen)
    return evidence.tuple == attempt.sent;
  return evidence.token == to_hex(attempt.token);
}

void look_at_listener(const Evidence& evidence, Sight& sight) {
  const ProbeCase& probe_case = sight.probe_case;
  if (evidence.agent != probe_case.probe.to.host || !is_this_token(evidence, sight.attempt)) {
    sight.forged = &evidence;
    return;
  }
  // One token, two tuples: somebody sent it again. Twice the same tuple is a retransmission.
  for (const Evidence* earlier : {sight.token_arrived, sight.packet_arrived}) {
    if (earlier && earlier->tuple != evidence.tuple)
      sight.forged = &evidence;
  }
  sight.translated = sight.translated || evidence.tuple != sight.attempt.sent;
  (evidence.outcome == Outcome::TokenSeen ? sight.token_arrived : sight.packet_arrived) = &evidence;
}

void look_at_enforcer(const Evidence& evidence, Sight& sight) {
  const ProbeCase& probe_case = sight.probe_case;
  const bool on_path = contains(probe_case.enforcers, evidence.agent);
  switch (evidence.outcome) {
    case Outcome::Dropped:
      if (on_path && evidence.table == probe_case.enforcer_table &&
          contains(probe_case.planned_rules, evidence.rule))
        sight.dropped_as_planned = &evidence;
      else
        sight.dropped_otherwise = &evidence;
      break;
    case Outcome::Left:
      sight.left = &evidence;
      break;
    case Outcome::Delivered:
      (evidence.agent == probe_case.probe.to.host ? sight.delivered_locally : sight.astray) =
          &evidence;
      break;
    default:
      break;
  }
}

void look_at_dialer(const Evidence& evidence, Sight& sight) {
  sight.dialer = &evidence;
  const ProbeCase& probe_case = sight.probe_case;
  if (evidence.outcome == Outcome::Accepted) {
    // A real service accepts, but cannot know us.
    sight.answer_stranger = !probe_case.passive && !probe_case.probe.to.agentless;
    return;
  }
  if (evidence.outcome != Outcome::Answered)
    return;
  if (probe_case.probe.transport == Transport::Icmp && evidence.answer.empty()) {
    sight.answer_valid = true;  // the kernel echoes the token; who received it the listener says
    return;
  }
  const auto key = key_from_hex(probe_case.expected_answer_key);
  sight.answer_valid = key && evidence.answer == to_hex(answer_to(*key, sight.attempt.token));
  sight.answer_stranger = !sight.answer_valid;
}

// RFC 792 and RFC 4443: "net unreachable" and "no route to destination". "Host unreachable" also
// comes of a neighbour that does not answer, behind a route that exists; "prohibited" of a filter;
// "time exceeded" of a loop.
bool says_no_route(const Evidence& evidence) {
  if (evidence.outcome != Outcome::Unreachable || !evidence.icmp_from)
    return false;
  const std::uint8_t type = evidence.icmp_from->family == Family::V4 ? 3 : 1;
  return evidence.icmp_type == type && evidence.icmp_code == std::uint8_t{0};
}

}  // namespace

bool Sight::silence() const {
  if (!dialer || refused_locally())
    return false;
  return dialer->outcome == Outcome::Timeout ||
         (dialer->outcome == Outcome::Unreachable &&
          dialer->icmp_from == probe_case.probe.from.address);
}

bool Sight::refused_locally() const {
  return dialer && dialer->error == EPERM && !dropped();
}

bool Sight::sender_in_order() const {
  if (!dialer || !dialer->next_hop || !dialer->next_hop->link_up)
    return false;
  const NextHop& hop = *dialer->next_hop;
  if (hop.address != probe_case.probe.to.address)
    return contains(probe_case.gateway_addresses, hop.address) && hop.mac && !hop.permanent;
  // Without an answer to ARP or ND there is no address to be wrong.
  const bool known = !probe_case.target_macs.empty();
  return !hop.mac || (known ? contains(probe_case.target_macs, *hop.mac) : !hop.permanent);
}

bool Sight::route_is_absent() const {
  if (probe_case.probe.cause != compiler::Cause::Route || refused_locally())
    return false;
  if (probe_case.route_absent)
    return true;
  if (dialer_says(Outcome::NoRoute))
    return probe_case.no_gateway;
  return dialer && says_no_route(*dialer) &&
         contains(probe_case.gateway_addresses, *dialer->icmp_from);
}

Sight look_at(const ProbeCase& probe_case, const TryRecord& attempt) {
  Sight sight{probe_case, attempt};
  for (const Evidence& evidence : attempt.evidence) {
    switch (evidence.end) {
      case End::Dialer:
        look_at_dialer(evidence, sight);
        break;
      case End::Listener:
        look_at_listener(evidence, sight);
        break;
      case End::Enforcer:
        look_at_enforcer(evidence, sight);
        break;
      case End::Bystander:
        sight.astray = &evidence;
        break;
    }
  }
  // With the SYN at the right host the handshake was its own: only the data is missing.
  if (sight.dialer_says(Outcome::Accepted) && sight.arrived())
    sight.answer_stranger = false;
  // Translation is a foreign NAT's work only where an enforcer let the original packet through.
  if (sight.translated && !sight.passed_enforcer()) {
    for (const Evidence* seen : {sight.token_arrived, sight.packet_arrived}) {
      if (seen && seen->tuple != attempt.sent)
        sight.forged = seen;
    }
  }
  return sight;
}

}  // namespace bulkhead::probes
