#include "compiler/probe_traffic.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace bulkhead::compiler {
namespace {

using policy::Action;
using policy::Cell;
using policy::Kind;
using policy::Piece;

Transport transport_of(Kind kind) {
  return kind == Kind::Tcp ? Transport::Tcp : Transport::Udp;
}

std::string describe(const Piece& piece) {
  return policy::to_string(policy::Traffic{piece.key, PortSet{piece.ports}});
}

std::string denying_rule(const Said& denied, std::uint16_t port) {
  const Piece* piece = denied.at(port);
  return piece ? rules_of(*piece) : std::string(policy::kRuleDefault);
}

void add_allowed_ports(const Said& allowed, Kind kind, std::vector<Shot>& shots) {
  for (const Piece* piece : allowed.pieces) {
    const auto [first, last] = piece->ports;
    const auto middle = static_cast<std::uint16_t>(first + (last - first) / 2);
    for (const std::uint16_t port : std::set<std::uint16_t>{first, middle, last}) {
      Shot shot{.transport = transport_of(kind),
                .port = port,
                .expect = Expect::Allow,
                .rule = rules_of(*piece)};
      if (kind == Kind::Udp) {
        shot.size = kLargePayload;
        shots.push_back(shot);
        shot.size = kSmallPayload;
      }
      shots.push_back(std::move(shot));
    }
  }
}

void add_query(const Cell* cell, std::uint16_t row, std::vector<Shot>& shots) {
  const Said allowed(cell, Kind::Icmp, Action::Allow);
  const Said denied(cell, Kind::Icmp, Action::Deny);
  const Piece* allow = allowed.at(row);
  // Of all queries every cell is asked a plain echo; see probe_beside_ports.h.
  if (row != kEcho && !allow && !denied.at(row))
    return;
  shots.push_back({.transport = Transport::Icmp,
                   .port = row,
                   .expect = allow ? Expect::Allow : Expect::Deny,
                   .rule = allow ? rules_of(*allow) : denying_rule(denied, row)});
}

bool is_named(const policy::Matrix& matrix, Kind kind) {
  return std::any_of(matrix.services.begin(), matrix.services.end(), [&](const auto& service) {
    return std::any_of(service.terms.begin(), service.terms.end(),
                       [&](const policy::Traffic& term) { return term.key.kind == kind; });
  });
}

bool carried_by_us(const Piece& piece, Family family) {
  switch (piece.key.kind) {
    case Kind::Tcp:
    case Kind::Udp:
    case Kind::Roce:
    case Kind::Dhcp:
      return true;
    case Kind::Icmp:
      return family == Family::V6 || piece.ports.last <= kTimestamp;
    case Kind::Ip:
      return !piece.key.group && can_be_sent(piece.key.protocol, family);
    case Kind::Sctp:
    case Kind::Ib:
    case Kind::GpuDirect:
      return false;
  }
  return false;
}

bool exists_in(Family family, const Piece& piece) {
  if (piece.key.group)
    return piece.key.group->family == family;
  if (piece.key.kind != Kind::Icmp || family == Family::V4)
    return true;
  for (std::size_t row = piece.ports.first; row <= piece.ports.last; ++row) {
    if (row < std::size(policy::kIcmpQueries) && policy::kIcmpQueries[row].v6_type)
      return true;
  }
  return false;
}

// Every port at which a service of this kind begins or ends, and the canaries.
std::vector<std::uint16_t> ports_to_ask(const policy::Matrix& matrix, Kind kind,
                                        const std::vector<std::uint16_t>& canary_ports) {
  std::set<std::uint16_t> ports(canary_ports.begin(), canary_ports.end());
  for (const policy::Service& service : matrix.services) {
    for (const policy::Traffic& term : service.terms) {
      if (term.key.kind != kind)
        continue;
      for (const PortRange& range : term.ports)
        ports.insert({range.first, range.last});
    }
  }
  return {ports.begin(), ports.end()};
}

std::vector<std::uint16_t> canaries(std::vector<std::uint16_t> chosen) {
  if (chosen.empty())
    chosen.assign(std::begin(kCanaryPorts), std::end(kCanaryPorts));
  return chosen;
}

}  // namespace

TrafficMaker::TrafficMaker(const policy::Matrix& matrix, std::vector<std::uint16_t> canary_ports)
    : canary_ports_(canaries(std::move(canary_ports))),
      tcp_(ports_to_ask(matrix, Kind::Tcp, canary_ports_)),
      udp_(ports_to_ask(matrix, Kind::Udp, canary_ports_)),
      names_dhcp_(is_named(matrix, Kind::Dhcp)),
      beside_ports_(matrix, {canary_ports_, tcp_, udp_}) {}

// Ports at which a denied cell, or the rest of an allowed one, is tried.
TrafficMaker::Ports TrafficMaker::denied_ports(const PortSet& allowed, const PortSet& denied,
                                               Kind kind) const {
  Ports ports = kind == Kind::Tcp ? tcp_ : udp_;
  for (const PortRange& range : denied)
    ports.insert(ports.end(), {range.first, range.last});
  for (const PortRange& range : allowed) {
    if (range.first > 1)
      ports.push_back(static_cast<std::uint16_t>(range.first - 1));
    if (range.last < 65535)
      ports.push_back(static_cast<std::uint16_t>(range.last + 1));
  }
  std::erase_if(ports, [&](std::uint16_t port) {
    return port == 0 || allowed.contains(port) || (kind == Kind::Udp && port == policy::kRocePort);
  });
  std::sort(ports.begin(), ports.end());
  ports.erase(std::unique(ports.begin(), ports.end()), ports.end());
  return ports;
}

void TrafficMaker::add_ports(const Cell* cell, Kind kind, std::vector<Shot>& shots) const {
  const Said allowed(cell, kind, Action::Allow);
  const Said denied(cell, kind, Action::Deny);
  add_allowed_ports(allowed, kind, shots);
  bool from_trusted = false;
  for (const std::uint16_t port : denied_ports(allowed.ports, denied.ports, kind)) {
    Shot shot{.transport = transport_of(kind), .port = port, .rule = denying_rule(denied, port)};
    const bool canary =
        std::find(canary_ports_.begin(), canary_ports_.end(), port) != canary_ports_.end();
    // A rule may look at a packet's length, or pass fragments: once for each canary will do.
    if (kind == Kind::Udp && canary) {
      shot.size = kLargePayload;
      shots.push_back(shot);
    }
    shot.size = kind == Kind::Udp ? kSmallPayload : std::uint16_t{0};
    shots.push_back(shot);
    if (canary && !std::exchange(from_trusted, true))
      add_from_trusted_sources(std::move(shot), shots);
  }
}

// A flow lets requests through its own way and answers through the other way. Asked of every cell:
// hardware answers at this port whether or not the policy speaks of RoCE.
void TrafficMaker::add_roce(const Cell* cell, const Cell* back, std::vector<Shot>& shots) const {
  const Said allowed(cell, Kind::Roce, Action::Allow);
  const Said denied(cell, Kind::Roce, Action::Deny);
  const Said allowed_back(back, Kind::Roce, Action::Allow);
  const std::string deny = denying_rule(denied, 0);
  const auto shot = [](Payload payload, Expect expect, std::string rule) {
    return Shot{.transport = Transport::Udp,
                .port = policy::kRocePort,
                .payload = payload,
                .size = kSmallPayload,
                .expect = expect,
                .rule = std::move(rule)};
  };
  if (allowed.any()) {
    shots.push_back(shot(Payload::RoceRequest, Expect::Allow, rules_of(*allowed.pieces[0])));
    return;
  }
  shots.push_back(shot(Payload::RoceRequest, Expect::Deny, deny));
  if (allowed_back.any())
    shots.push_back(
        shot(Payload::RoceAcknowledge, Expect::Allow, rules_of(*allowed_back.pieces[0])));
  else
    shots.push_back(shot(Payload::RoceAcknowledge, Expect::Deny, deny));
}

// A lease is renewed by unicast from the client's port to the server's (RFC 2131 4.1, RFC
// 8415 7.2). The source port is part of the service here. The port of relays is the server's own,
// on which the sender may be listening for its denied probes, so the client's stands for both.
void TrafficMaker::add_dhcp(const Cell* cell, Family family, std::vector<Shot>& shots) const {
  const Said allowed(cell, Kind::Dhcp, Action::Allow);
  const Said denied(cell, Kind::Dhcp, Action::Deny);
  if (!names_dhcp_ && !allowed.any() && !denied.any())
    return;
  Shot shot{.transport = Transport::Udp, .size = kSmallPayload};
  shot.sport = family == Family::V4 ? 68 : 546;
  shot.port = family == Family::V4 ? 67 : 547;
  if (Said(cell, Kind::Udp, Action::Allow).at(shot.port))
    return;  // allowed, and probed, by its port
  shot.expect = allowed.any() ? Expect::Allow : Expect::Deny;
  shot.rule = allowed.any() ? rules_of(*allowed.pieces[0]) : denying_rule(denied, 0);
  shots.push_back(std::move(shot));
}

const std::vector<Shot>* TrafficMaker::beside_ports(const Cell* cell, const Cell* back,
                                                    Family family) {
  if (cell || back)
    return keep(beside_ports_.by_default(cell, back, family));
  const auto [known, is_new] = silent_beside_ports_.try_emplace(family);
  if (is_new)
    known->second = keep(beside_ports_.by_default(nullptr, nullptr, family));
  return known->second;
}

std::vector<Shot> TrafficMaker::shots_of(const Cell* cell, const Cell* back, Family family) const {
  std::vector<Shot> shots;
  add_ports(cell, Kind::Tcp, shots);
  add_ports(cell, Kind::Udp, shots);
  add_query(cell, kEcho, shots);
  if (family == Family::V4)
    add_query(cell, kTimestamp, shots);
  add_roce(cell, back, shots);
  add_dhcp(cell, family, shots);
  const auto protocols = beside_ports_.said(cell, back, family);
  shots.insert(shots.end(), protocols.begin(), protocols.end());
  std::sort(shots.begin(), shots.end());
  return shots;
}

std::vector<Shot> TrafficMaker::reachability() const {
  const std::string rule(policy::kRuleInside);
  return {{.transport = Transport::Tcp,
           .port = canary_ports_[0],
           .expect = Expect::Allow,
           .rule = rule},
          {.transport = Transport::Icmp, .port = kEcho, .expect = Expect::Allow, .rule = rule}};
}

const std::vector<Shot>* TrafficMaker::keep(std::vector<Shot> shots) {
  return shots.empty() ? nullptr : &*kept_.insert(std::move(shots)).first;
}

CellTraffic TrafficMaker::of(const Cell* cell, const Cell* back, Family family) {
  CellTraffic traffic;
  if (cell && cell->everything) {
    traffic.said = reachability();
    return traffic;
  }
  traffic.beside_ports = beside_ports(cell, back, family);
  if (!cell && !Said(back, Kind::Roce, Action::Allow).any()) {
    const auto [known, is_new] = silent_.try_emplace(family);
    if (is_new)
      known->second = keep(shots_of(nullptr, nullptr, family));
    traffic.by_default = known->second;
    return traffic;
  }
  traffic.said = shots_of(cell, back, family);
  const auto first_default =
      std::stable_partition(traffic.said.begin(), traffic.said.end(),
                            [](const Shot& shot) { return shot.rule != policy::kRuleDefault; });
  traffic.by_default =
      keep({std::make_move_iterator(first_default), std::make_move_iterator(traffic.said.end())});
  traffic.said.erase(first_default, traffic.said.end());
  if (cell) {
    for (const Piece& piece : cell->pieces) {
      if (!carried_by_us(piece, family) && exists_in(family, piece))
        traffic.untested.push_back(describe(piece));
    }
  }
  return traffic;
}

}  // namespace bulkhead::compiler
