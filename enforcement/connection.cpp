#include "enforcement/connection.h"

#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <iterator>

#include "compiler/ir.h"

namespace bulkhead::enforcement {

namespace {

using policy::Kind;

std::string protocol_name(std::uint8_t protocol) {
  switch (protocol) {
    case IPPROTO_TCP:
      return "tcp";
    case IPPROTO_UDP:
      return "udp";
    case IPPROTO_SCTP:
      return "sctp";
    case IPPROTO_ICMP:
    case IPPROTO_ICMPV6:
      return "icmp";
    default:
      return fmt::format("ip {}", protocol);
  }
}

bool has_ports(std::uint8_t protocol) {
  return protocol == IPPROTO_TCP || protocol == IPPROTO_UDP || protocol == IPPROTO_SCTP;
}

bool is_of_the_link(const Address& address) {
  static const Address kBroadcast = *Address::parse("255.255.255.255");
  return address.is_multicast() || address.is_loopback() || address.is_link_local() ||
         address.is_unspecified() || address == kBroadcast;
}

// 67/68: RFC 2131, 546/547: RFC 8415.
bool is_dhcp(std::uint16_t port) {
  return port == 67 || port == 68 || port == 546 || port == 547;
}

bool covers(const policy::Piece& piece, const Connection::Tuple& flow) {
  const auto port_in = [&](std::uint16_t port) {
    return piece.ports.first <= port && port <= piece.ports.last;
  };
  switch (piece.key.kind) {
    case Kind::Tcp:
      return flow.protocol == IPPROTO_TCP && port_in(flow.dport);
    case Kind::Udp:
      return flow.protocol == IPPROTO_UDP && port_in(flow.dport);
    case Kind::Sctp:
      return flow.protocol == IPPROTO_SCTP && port_in(flow.dport);
    case Kind::Icmp:
      for (std::uint16_t row = 0; row < std::size(policy::kIcmpQueries); ++row) {
        const auto& query = policy::kIcmpQueries[row];
        const auto& type = flow.from.family == Family::V4 ? query.v4_type : query.v6_type;
        if (port_in(row) && type == flow.icmp_type)
          return flow.protocol == IPPROTO_ICMP || flow.protocol == IPPROTO_ICMPV6;
      }
      return false;
    case Kind::Ip:
      return flow.protocol == piece.key.protocol && !piece.key.group;
    case Kind::Dhcp:
      return flow.protocol == IPPROTO_UDP && is_dhcp(flow.dport);
    case Kind::Roce:
    case Kind::Ib:
    case Kind::GpuDirect:
      return false;
  }
  return false;
}

bool allows(const policy::Cell* cell, const Connection::Tuple& flow) {
  if (cell == nullptr)
    return false;
  if (cell->everything)
    return true;
  return std::any_of(cell->pieces.begin(), cell->pieces.end(), [&](const policy::Piece& piece) {
    return piece.action == policy::Action::Allow && covers(piece, flow);
  });
}

}  // namespace

std::string to_string(const Connection& connection) {
  const auto& [from, to] = std::pair(connection.original, connection.reply);
  const std::string what = protocol_name(from.protocol);
  std::string out = has_ports(from.protocol)
                        ? fmt::format("{} {}:{} → {}:{}", what, from.from.str(), from.sport,
                                      to.from.str(), to.sport)
                        : fmt::format("{} {} → {}", what, from.from.str(), to.from.str());
  if (connection.zone != 0)
    out += fmt::format(" (zone {})", connection.zone);
  return out;
}

Allowance::Allowance(const compiler::Site& site, const compiler::EnforcerView& view)
    : site_(site), self_(view.self) {
  std::map<std::string, std::uint16_t> of_leg;
  for (const compiler::ir::Leg& leg : compiler::ir::make_enforcer(site, view).legs)
    of_leg[leg.interface] = leg.zone;
  for (const compiler::LegBinding& binding : view.bindings)
    zones_[binding.cls] = of_leg[binding.interface];
}

const std::vector<policy::ClassId>& Allowance::holders(const Address& address) {
  const auto [found, is_new] = holders_.try_emplace(address);
  if (is_new)
    for (policy::ClassId id = 0; id < site_.matrix.universe.classes.size(); ++id)
      if (site_.matrix.universe.classes[id].addresses.contains(address))
        found->second.push_back(id);
  return found->second;
}

// The enforcer itself speaks in every zone.
bool Allowance::is_in_zone(policy::ClassId cls, std::uint16_t zone) const {
  const auto found = zones_.find(cls);
  return found == zones_.end() || found->second == zone;
}

bool Allowance::covers(const Connection& connection) {
  Connection::Tuple flow = connection.original;
  flow.to = connection.reply.from;
  flow.dport = connection.reply.sport;
  if (is_of_the_link(flow.from) || is_of_the_link(flow.to) ||
      is_of_the_link(connection.original.to) ||
      (flow.protocol == IPPROTO_UDP && flow.dport == policy::kRocePort))
    return true;
  const AddressSet& own = site_.matrix.universe.classes[self_].addresses;
  if (own.contains(flow.from) && own.contains(flow.to))
    return true;
  const auto& to = holders(flow.to);
  for (const policy::ClassId from : holders(flow.from))
    for (const policy::ClassId into : to)
      if (is_in_zone(from, connection.zone) && is_in_zone(into, connection.zone) &&
          allows(site_.matrix.find(from, into), flow))
        return true;
  return false;
}

}  // namespace bulkhead::enforcement
