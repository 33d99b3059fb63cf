#include "compiler/probe_traffic.h"

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

constexpr std::uint16_t kEcho = 0;  // row of policy::kIcmpQueries

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

// Without ports connection tracking takes what goes back to an allowed protocol for its reply.
bool is_reply(const Shot& shot, const Cell* back) {
  if (shot.transport != Transport::Raw || shot.expect == Expect::Allow)
    return false;
  const Piece* piece = protocol_piece(back, static_cast<std::uint8_t>(shot.port));
  return piece && piece->action == Action::Allow;
}

bool carried_by_us(const Piece& piece, Family family) {
  switch (piece.key.kind) {
    case Kind::Tcp:
    case Kind::Udp:
    case Kind::Roce:
    case Kind::Dhcp:
      return true;
    case Kind::Icmp:
      return piece.ports.first == kEcho && piece.ports.last == kEcho;
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

}  // namespace

bool can_be_sent(std::uint8_t protocol, Family family) {
  return family == Family::V4 ||
         std::find(std::begin(kExtensionHeaders), std::end(kExtensionHeaders), protocol) ==
             std::end(kExtensionHeaders);
}

// Whoever decides of our packet of `protocol`; null: nobody says. Where a header of SCTP has its
// destination port that packet has the protocol's number.
const Piece* protocol_piece(const Cell* cell, std::uint8_t protocol) {
  if (!cell)
    return nullptr;
  const auto found = std::find_if(cell->pieces.begin(), cell->pieces.end(), [&](const Piece& p) {
    return (p.key.kind == Kind::Ip && p.key.protocol == protocol && !p.key.group) ||
           (p.key.kind == Kind::Sctp && protocol == IPPROTO_SCTP && p.ports.contains(protocol));
  });
  return found == cell->pieces.end() ? nullptr : &*found;
}

TrafficMaker::TrafficMaker(const policy::Matrix& matrix, std::vector<std::uint16_t> canary_ports)
    : canary_ports_(std::move(canary_ports)) {
  if (canary_ports_.empty())
    canary_ports_.assign(std::begin(kCanaryPorts), std::end(kCanaryPorts));
  std::set<std::uint16_t> tcp(canary_ports_.begin(), canary_ports_.end());
  std::set<std::uint16_t> udp = tcp;
  protocols_.insert(std::begin(kCanaryProtocols), std::end(kCanaryProtocols));
  for (const policy::Service& service : matrix.services) {
    for (const policy::Traffic& term : service.terms) {
      if (term.key.kind == Kind::Tcp || term.key.kind == Kind::Udp)
        for (const PortRange& range : term.ports)
          (term.key.kind == Kind::Tcp ? tcp : udp).insert({range.first, range.last});
      else if (term.key.kind == Kind::Ip && !term.key.group)
        protocols_.insert(term.key.protocol);
    }
  }
  tcp_.assign(tcp.begin(), tcp.end());
  udp_.assign(udp.begin(), udp.end());
  names_dhcp_ = is_named(matrix, Kind::Dhcp);
}

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
      add_trusted_sources(std::move(shot), shots);
  }
}

void TrafficMaker::add_trusted_sources(Shot shot, std::vector<Shot>& shots) {
  const std::span<const std::uint16_t> sources =
      shot.transport == Transport::Tcp ? std::span<const std::uint16_t>(kTrustedTcpSources)
                                       : std::span<const std::uint16_t>(kTrustedUdpSources);
  for (const std::uint16_t sport : sources) {
    shot.sport = sport;
    shots.push_back(shot);
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
  shot.rule = allowed.any() ? join(allowed.pieces[0]->rules) : denying_rule(denied, 0);
  shots.push_back(std::move(shot));
}

void TrafficMaker::add_protocols(const Cell* cell, Family family, std::vector<Shot>& shots) const {
  for (const std::uint8_t protocol : protocols_) {
    const Piece* piece = protocol_piece(cell, protocol);
    if (piece && can_be_sent(protocol, family))
      shots.push_back({.transport = Transport::Raw,
                       .port = protocol,
                       .expect = piece->action == Action::Allow ? Expect::Allow : Expect::Deny,
                       .rule = join(piece->rules)});
  }
}

std::vector<Shot> TrafficMaker::shots_beside_ports(const Cell* cell, const Cell* back,
                                                   Family family) const {
  std::vector<Shot> shots;
  const std::string rule(policy::kRuleDefault);
  const Said allowed(cell, Kind::Tcp, Action::Allow);
  const Said denied(cell, Kind::Tcp, Action::Deny);
  const auto port =
      std::find_if(canary_ports_.begin(), canary_ports_.end(),
                   [&](std::uint16_t canary) { return !allowed.at(canary) && !denied.at(canary); });
  if (port != canary_ports_.end())
    shots.push_back(
        {.transport = Transport::Tcp, .port = *port, .payload = Payload::LoneAck, .rule = rule});
  for (const std::uint8_t protocol : protocols_) {
    if (can_be_sent(protocol, family) && !protocol_piece(cell, protocol))
      shots.push_back({.transport = Transport::Raw, .port = protocol, .rule = rule});
  }
  std::erase_if(shots, [&](const Shot& shot) { return is_reply(shot, back); });
  return shots;
}

const std::vector<Shot>* TrafficMaker::beside_ports(const Cell* cell, const Cell* back,
                                                    Family family) {
  if (cell || back)
    return keep(shots_beside_ports(cell, back, family));
  const auto [known, is_new] = silent_beside_ports_.try_emplace(family);
  if (is_new)
    known->second = keep(shots_beside_ports(nullptr, nullptr, family));
  return known->second;
}

std::vector<Shot> TrafficMaker::shots_of(const Cell* cell, const Cell* back, Family family) const {
  std::vector<Shot> shots;
  add_ports(cell, Kind::Tcp, shots);
  add_ports(cell, Kind::Udp, shots);
  add_echo(cell, shots);
  add_roce(cell, back, shots);
  add_dhcp(cell, family, shots);
  add_protocols(cell, family, shots);
  std::erase_if(shots, [&](const Shot& shot) { return is_reply(shot, back); });
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
