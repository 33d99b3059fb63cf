#include "compiler/probe_traffic.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace bulkhead::compiler {
namespace {

using policy::Action;
using policy::Cell;
using policy::Kind;
using policy::Piece;

constexpr std::uint16_t kEcho = 0;  // row of policy::kIcmpQueries

std::string join(const std::vector<std::string>& ids) {
  std::string text;
  for (const std::string& id : ids)
    text += (text.empty() ? "" : ",") + id;
  return text;
}

Transport transport_of(Kind kind) {
  return kind == Kind::Tcp ? Transport::Tcp : Transport::Udp;
}

std::string describe(const Piece& piece) {
  return policy::to_string(policy::Traffic{piece.key, PortSet{piece.ports}});
}

// The pieces of one kind and action in a cell, and who decided each.
struct Said {
  PortSet ports;
  std::vector<const Piece*> pieces;
  Said(const Cell* cell, Kind kind, Action action) {
    if (!cell)
      return;
    std::vector<PortRange> ranges;
    for (const Piece& piece : cell->pieces) {
      if (piece.key.kind != kind || piece.action != action)
        continue;
      ranges.push_back(piece.ports);
      pieces.push_back(&piece);
    }
    ports = PortSet::from(std::move(ranges));
  }
  [[nodiscard]] bool any() const { return !pieces.empty(); }
  [[nodiscard]] const Piece* at(std::uint16_t port) const {
    const auto found = std::find_if(pieces.begin(), pieces.end(),
                                    [&](const Piece* p) { return p->ports.contains(port); });
    return found == pieces.end() ? nullptr : *found;
  }
};

std::string denying_rule(const Said& denied, std::uint16_t port) {
  const Piece* piece = denied.at(port);
  return piece ? join(piece->rules) : std::string(policy::kRuleDefault);
}

void add_allowed_ports(const Said& allowed, Kind kind, std::vector<Shot>& shots) {
  for (const Piece* piece : allowed.pieces) {
    const auto [first, last] = piece->ports;
    const auto middle = static_cast<std::uint16_t>(first + (last - first) / 2);
    for (const std::uint16_t port : std::set<std::uint16_t>{first, middle, last}) {
      Shot shot{.transport = transport_of(kind),
                .port = port,
                .expect = Expect::Allow,
                .rule = join(piece->rules)};
      if (kind == Kind::Udp) {
        shot.size = kLargePayload;
        shots.push_back(shot);
        shot.size = kSmallPayload;
      }
      shots.push_back(std::move(shot));
    }
  }
}

// Ports at which a denied cell, or the rest of an allowed one, is tried.
std::set<std::uint16_t> denied_ports(const policy::Matrix& matrix, const Said& allowed,
                                     const Said& denied, Kind kind,
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
  for (const PortRange& range : denied.ports)
    ports.insert({range.first, range.last});
  for (const PortRange& range : allowed.ports) {
    if (range.first > 1)
      ports.insert(static_cast<std::uint16_t>(range.first - 1));
    if (range.last < 65535)
      ports.insert(static_cast<std::uint16_t>(range.last + 1));
  }
  std::erase_if(ports, [&](std::uint16_t port) {
    return port == 0 || allowed.ports.contains(port) ||
           (kind == Kind::Udp && port == policy::kRocePort);
  });
  return ports;
}

void add_ports(const policy::Matrix& matrix, const Cell* cell, Kind kind,
               const std::vector<std::uint16_t>& canary_ports, std::vector<Shot>& shots) {
  const Said allowed(cell, kind, Action::Allow);
  const Said denied(cell, kind, Action::Deny);
  add_allowed_ports(allowed, kind, shots);
  for (const std::uint16_t port : denied_ports(matrix, allowed, denied, kind, canary_ports)) {
    // One size is enough here: a filter that lets later fragments through without their first one
    // delivers no datagram, and the small one shows what a first fragment's ports would meet.
    const std::uint16_t size = kind == Kind::Udp ? kSmallPayload : std::uint16_t{0};
    shots.push_back({.transport = transport_of(kind),
                     .port = port,
                     .size = size,
                     .rule = denying_rule(denied, port)});
  }
}

void add_echo(const Cell* cell, std::vector<Shot>& shots) {
  const Said allowed(cell, Kind::Icmp, Action::Allow);
  const Said denied(cell, Kind::Icmp, Action::Deny);
  const Piece* allow = allowed.at(kEcho);
  shots.push_back({.transport = Transport::Icmp,
                   .port = kEcho,
                   .expect = allow ? Expect::Allow : Expect::Deny,
                   .rule = allow ? join(allow->rules) : denying_rule(denied, kEcho)});
}

bool is_named(const policy::Matrix& matrix, Kind kind) {
  return std::any_of(matrix.services.begin(), matrix.services.end(), [&](const auto& service) {
    return std::any_of(service.terms.begin(), service.terms.end(),
                       [&](const policy::Traffic& term) { return term.key.kind == kind; });
  });
}

// A flow lets requests through its own way and answers through the other way.
void add_roce(const policy::Matrix& matrix, const Cell* cell, const Cell* back,
              std::vector<Shot>& shots) {
  const Said allowed(cell, Kind::Roce, Action::Allow);
  const Said denied(cell, Kind::Roce, Action::Deny);
  const Said allowed_back(back, Kind::Roce, Action::Allow);
  if (!is_named(matrix, Kind::Roce) && !allowed.any() && !denied.any() && !allowed_back.any())
    return;
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
    shots.push_back(shot(Payload::RoceRequest, Expect::Allow, join(allowed.pieces[0]->rules)));
    return;
  }
  shots.push_back(shot(Payload::RoceRequest, Expect::Deny, deny));
  if (allowed_back.any())
    shots.push_back(
        shot(Payload::RoceAcknowledge, Expect::Allow, join(allowed_back.pieces[0]->rules)));
  else
    shots.push_back(shot(Payload::RoceAcknowledge, Expect::Deny, deny));
}

// A lease is renewed by unicast from the client's port to the server's (RFC 2131 4.1, RFC
// 8415 7.2). The source port is part of the service here. The port of relays is the server's own,
// on which the sender may be listening for its denied probes, so the client's stands for both.
void add_dhcp(const policy::Matrix& matrix, const Cell* cell, Family family,
              std::vector<Shot>& shots) {
  const Said allowed(cell, Kind::Dhcp, Action::Allow);
  const Said denied(cell, Kind::Dhcp, Action::Deny);
  if (!is_named(matrix, Kind::Dhcp) && !allowed.any() && !denied.any())
    return;
  Shot shot{.transport = Transport::Udp, .size = kSmallPayload};
  shot.sport = family == Family::V4 ? 68 : 546;
  shot.port = family == Family::V4 ? 67 : 547;
  if (Said(cell, Kind::Udp, Action::Allow).at(shot.port))
    return;  // allowed, and probed, by its port
  shot.expect = allowed.any() ? Expect::Allow : Expect::Deny;
  shot.rule = allowed.any() ? join(allowed.pieces[0]->rules) : denying_rule(denied, 0);
  shots.push_back(std::move(shot));
}

bool carried_by_us(const Piece& piece) {
  switch (piece.key.kind) {
    case Kind::Tcp:
    case Kind::Udp:
    case Kind::Roce:
    case Kind::Dhcp:
      return true;
    case Kind::Icmp:
      return piece.ports.first == kEcho && piece.ports.last == kEcho;
    case Kind::Sctp:
    case Kind::Ip:
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

std::vector<Shot> reachability(const std::vector<std::uint16_t>& canary_ports) {
  std::vector<Shot> shots;
  const std::string rule(policy::kRuleInside);
  if (!canary_ports.empty())
    shots.push_back({.transport = Transport::Tcp,
                     .port = canary_ports[0],
                     .expect = Expect::Allow,
                     .rule = rule});
  shots.push_back(
      {.transport = Transport::Icmp, .port = kEcho, .expect = Expect::Allow, .rule = rule});
  return shots;
}

}  // namespace

CellTraffic traffic_of(const policy::Matrix& matrix, const Cell* cell, const Cell* back,
                       Family family, const std::vector<std::uint16_t>& canary_ports) {
  CellTraffic traffic;
  if (cell && cell->everything) {
    traffic.shots = reachability(canary_ports);
    return traffic;
  }
  add_ports(matrix, cell, Kind::Tcp, canary_ports, traffic.shots);
  add_ports(matrix, cell, Kind::Udp, canary_ports, traffic.shots);
  add_echo(cell, traffic.shots);
  add_roce(matrix, cell, back, traffic.shots);
  add_dhcp(matrix, cell, family, traffic.shots);
  if (cell) {
    for (const Piece& piece : cell->pieces) {
      if (!carried_by_us(piece) && exists_in(family, piece))
        traffic.untested.push_back(describe(piece));
    }
  }
  std::sort(traffic.shots.begin(), traffic.shots.end());
  return traffic;
}

}  // namespace bulkhead::compiler
