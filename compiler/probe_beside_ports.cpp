#include "compiler/probe_beside_ports.h"

#include <netinet/in.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

namespace bulkhead::compiler {
namespace {

using policy::Action;
using policy::Cell;
using policy::Kind;
using policy::Piece;

// Ports whose answers careless filters let in by their source port alone: FTP's data, DNS, DHCP,
// NTP, the web, IKE, RoCE.
constexpr std::uint16_t kTrustedTcpSources[] = {20, 53, 80, 443};
constexpr std::uint16_t kTrustedUdpSources[] = {53, 67, 123, 500, policy::kRocePort};

// Of what carries other traffic: SCTP, GRE, ESP.
constexpr std::uint8_t kCanaryProtocols[] = {IPPROTO_SCTP, IPPROTO_GRE, IPPROTO_ESP};

// IPv6 reads these as headers of its own chain (RFC 8200 4, RFC 4302), where no token of ours could
// stand.
constexpr std::uint8_t kExtensionHeaders[] = {IPPROTO_ROUTING, IPPROTO_FRAGMENT, IPPROTO_AH,
                                              IPPROTO_NONE, IPPROTO_DSTOPTS};

// From DHCP's server to a client's port: a lease that was asked for makes it a reply.
constexpr std::uint16_t kDhcpClients[] = {68, 546};

bool contains(std::span<const std::uint16_t> ports, std::uint16_t port) {
  return std::find(ports.begin(), ports.end(), port) != ports.end();
}

// Without ports connection tracking takes what goes back to an allowed protocol for its reply.
void remove_replies(const Cell* back, std::vector<Shot>& shots) {
  std::erase_if(shots, [&](const Shot& shot) {
    if (shot.transport != Transport::Raw || shot.expect == Expect::Allow)
      return false;
    const Piece* piece = protocol_piece(back, static_cast<std::uint8_t>(shot.port));
    return piece && piece->action == Action::Allow;
  });
}

std::string by_default_rule() {
  return std::string(policy::kRuleDefault);
}

}  // namespace

bool can_be_sent(std::uint8_t protocol, Family family) {
  return family == Family::V4 ||
         std::find(std::begin(kExtensionHeaders), std::end(kExtensionHeaders), protocol) ==
             std::end(kExtensionHeaders);
}

// Where a header of SCTP has its destination port our packet has the protocol's number.
const Piece* protocol_piece(const Cell* cell, std::uint8_t protocol) {
  if (!cell)
    return nullptr;
  const auto found = std::find_if(cell->pieces.begin(), cell->pieces.end(), [&](const Piece& p) {
    return (p.key.kind == Kind::Ip && p.key.protocol == protocol && !p.key.group) ||
           (p.key.kind == Kind::Sctp && protocol == IPPROTO_SCTP && p.ports.contains(protocol));
  });
  return found == cell->pieces.end() ? nullptr : &*found;
}

void add_from_trusted_sources(Shot shot, std::vector<Shot>& shots) {
  const std::span<const std::uint16_t> sources =
      shot.transport == Transport::Tcp ? std::span<const std::uint16_t>(kTrustedTcpSources)
                                       : std::span<const std::uint16_t>(kTrustedUdpSources);
  for (const std::uint16_t sport : sources) {
    shot.sport = sport;
    shots.push_back(shot);
  }
}

BesidePorts::BesidePorts(const policy::Matrix& matrix, Ports ports)
    : ports_(std::move(ports)),
      protocols_(std::begin(kCanaryProtocols), std::end(kCanaryProtocols)) {
  for (const policy::Service& service : matrix.services) {
    for (const policy::Traffic& term : service.terms) {
      if (term.key.kind == Kind::Ip && !term.key.group)
        protocols_.insert(term.key.protocol);
    }
  }
}

void BesidePorts::add_protocols(const Cell* cell, Family family, std::vector<Shot>& shots) const {
  for (const std::uint8_t protocol : protocols_) {
    if (can_be_sent(protocol, family) && !protocol_piece(cell, protocol))
      shots.push_back({.transport = Transport::Raw, .port = protocol, .rule = by_default_rule()});
  }
}

// A rule for ICMP may forget its other query, or the length of an echo. What flows say of either is
// asked by itself.
void BesidePorts::add_queries(const Cell* cell, Family family, std::vector<Shot>& shots) {
  const Said allowed(cell, Kind::Icmp, Action::Allow);
  const Said denied(cell, Kind::Icmp, Action::Deny);
  const auto said = [&](std::uint16_t row) { return allowed.at(row) || denied.at(row); };
  if (!said(kEcho))
    shots.push_back({.transport = Transport::Icmp,
                     .port = kEcho,
                     .size = kLargePayload,
                     .rule = by_default_rule()});
  if (family == Family::V4 && !said(kTimestamp))
    shots.push_back({.transport = Transport::Icmp, .port = kTimestamp, .rule = by_default_rule()});
}

// To the first port of a service that is denied here: a careless rule may name both ports.
void BesidePorts::add_trusted_sources(const Cell* cell, Transport transport,
                                      std::vector<Shot>& shots) const {
  const bool tcp = transport == Transport::Tcp;
  const Said allowed(cell, tcp ? Kind::Tcp : Kind::Udp, Action::Allow);
  const Said denied(cell, tcp ? Kind::Tcp : Kind::Udp, Action::Deny);
  const auto& ports = tcp ? ports_.tcp : ports_.udp;
  const auto port = std::find_if(ports.begin(), ports.end(), [&](std::uint16_t candidate) {
    return !contains(ports_.canary, candidate) && !allowed.at(candidate) && !denied.at(candidate) &&
           candidate != 0 &&
           (tcp || (candidate != policy::kRocePort && !contains(kDhcpClients, candidate)));
  });
  if (port != ports.end())
    add_from_trusted_sources({.transport = transport,
                              .port = *port,
                              .size = tcp ? std::uint16_t{0} : kSmallPayload,
                              .rule = by_default_rule()},
                             shots);
}

std::vector<Shot> BesidePorts::by_default(const Cell* cell, const Cell* back, Family family) const {
  std::vector<Shot> shots;
  const Said allowed(cell, Kind::Tcp, Action::Allow);
  const Said denied(cell, Kind::Tcp, Action::Deny);
  const auto port =
      std::find_if(ports_.canary.begin(), ports_.canary.end(),
                   [&](std::uint16_t canary) { return !allowed.at(canary) && !denied.at(canary); });
  if (port != ports_.canary.end())
    shots.push_back({.transport = Transport::Tcp,
                     .port = *port,
                     .payload = Payload::LoneAck,
                     .rule = by_default_rule()});
  add_trusted_sources(cell, Transport::Tcp, shots);
  add_trusted_sources(cell, Transport::Udp, shots);
  add_queries(cell, family, shots);
  add_protocols(cell, family, shots);
  remove_replies(back, shots);
  return shots;
}

std::vector<Shot> BesidePorts::said(const Cell* cell, const Cell* back, Family family) const {
  std::vector<Shot> shots;
  for (const std::uint8_t protocol : protocols_) {
    const Piece* piece = protocol_piece(cell, protocol);
    if (piece && can_be_sent(protocol, family))
      shots.push_back({.transport = Transport::Raw,
                       .port = protocol,
                       .expect = piece->action == Action::Allow ? Expect::Allow : Expect::Deny,
                       .rule = rules_of(*piece)});
  }
  remove_replies(back, shots);
  return shots;
}

}  // namespace bulkhead::compiler
