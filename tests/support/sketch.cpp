#include "sketch.h"

#include <algorithm>
#include <stdexcept>

#include "compiler/targets/nftables.h"

namespace bulkhead::test {

namespace {

constexpr const char* kSelf = "enforcer:fw";

policy::Piece ported(policy::Kind kind, std::uint16_t first, std::uint16_t last) {
  policy::Piece piece;
  piece.key.kind = kind;
  piece.ports = {first, last == 0 ? first : last};
  return piece;
}

}  // namespace

AddressRange range(std::string_view text) {
  if (const auto prefix = Prefix::parse(text))
    return prefix->range();
  const auto dash = text.find('-');
  const auto first = Address::parse(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : Address::parse(text.substr(dash + 1));
  if (!first || !last)
    throw std::invalid_argument("test address: " + std::string(text));
  return {*first, *last};
}

policy::Piece tcp(std::uint16_t first, std::uint16_t last) {
  return ported(policy::Kind::Tcp, first, last);
}
policy::Piece udp(std::uint16_t first, std::uint16_t last) {
  return ported(policy::Kind::Udp, first, last);
}
policy::Piece icmp(std::string_view query) {
  policy::Piece piece;
  piece.key.kind = policy::Kind::Icmp;
  const auto* row =
      std::find_if(std::begin(policy::kIcmpQueries), std::end(policy::kIcmpQueries),
                   [&](const policy::IcmpQuery& known) { return known.name == query; });
  piece.ports.first = static_cast<std::uint16_t>(row - std::begin(policy::kIcmpQueries));
  piece.ports.last = piece.ports.first;
  return piece;
}
policy::Piece ip(std::uint8_t protocol, std::string_view group) {
  policy::Piece piece;
  piece.key.kind = policy::Kind::Ip;
  piece.key.protocol = protocol;
  if (!group.empty())
    piece.key.group = Address::parse(group);
  return piece;
}
policy::Piece roce() {
  policy::Piece piece;
  piece.key.kind = policy::Kind::Roce;
  return piece;
}
policy::Piece dhcp() {
  policy::Piece piece;
  piece.key.kind = policy::Kind::Dhcp;
  return piece;
}

Sketch& Sketch::leg(const std::string& interface, std::initializer_list<std::string_view> addresses,
                    const std::string& vrf) {
  Leg made{interface, vrf, {}};
  for (const auto text : addresses)
    made.addresses.push_back(InterfaceAddress::parse(text).value());
  legs_.push_back(std::move(made));
  return *this;
}

Sketch& Sketch::members(std::vector<std::string> names) {
  members_ = std::move(names);
  return *this;
}

Sketch& Sketch::cls(const std::string& name, const std::string& leg,
                    std::initializer_list<std::string_view> addresses) {
  auto& entry = classes_[name];
  entry.first = leg;
  for (const auto text : addresses)
    entry.second.add(range(text));
  return *this;
}

Sketch& Sketch::say(policy::Action action, const std::string& rule, const std::string& from,
                    const std::string& to, std::initializer_list<policy::Piece> pieces) {
  for (policy::Piece piece : pieces) {
    piece.action = action;
    piece.rules = {rule};
    auto& said = cells_[{from, to}].pieces;
    const auto same = std::find_if(said.begin(), said.end(), [&](const policy::Piece& known) {
      return known.key == piece.key && known.ports == piece.ports && known.action == piece.action;
    });
    if (same == said.end()) {
      said.push_back(std::move(piece));
    } else {
      same->rules.push_back(rule);
      std::sort(same->rules.begin(), same->rules.end());
    }
    std::sort(said.begin(), said.end());
  }
  return *this;
}

Sketch& Sketch::allow(const std::string& rule, const std::string& from, const std::string& to,
                      std::initializer_list<policy::Piece> pieces) {
  return say(policy::Action::Allow, rule, from, to, pieces);
}
Sketch& Sketch::deny(const std::string& rule, const std::string& from, const std::string& to,
                     std::initializer_list<policy::Piece> pieces) {
  return say(policy::Action::Deny, rule, from, to, pieces);
}
Sketch& Sketch::inside_open(const std::string& from, const std::string& to) {
  cells_[{from, to}].everything = true;
  return *this;
}

compiler::Site Sketch::site() const {
  compiler::Site site;
  site.policy.name = "sketch";
  site.policy_digest = "sha256:0123";
  site.matrix.as_of = std::chrono::year(2026) / 12 / 1;

  compiler::Enforcer fw;
  fw.name = "fw";
  fw.members = members_;
  AddressSet own;
  for (const auto& leg : legs_) {
    compiler::Leg made;
    made.interface = leg.interface;
    if (!leg.vrf.empty())
      made.vrf = compiler::Name{leg.vrf, {}};
    for (const auto& address : leg.addresses) {
      (address.address.family == Family::V4 ? made.v4 : made.v6) = address;
      own.add({address.address, address.address});
    }
    fw.legs.push_back(std::move(made));
  }
  site.inventory.enforcers.emplace("fw", std::move(fw));

  auto named = classes_;
  named[kSelf] = {"", own};
  auto& classes = site.matrix.universe.classes;
  std::map<std::string, policy::ClassId> ids;
  compiler::EnforcerView view;
  view.enforcer = "fw";
  for (const auto& [name, entry] : named) {
    const auto id = static_cast<policy::ClassId>(classes.size());
    ids[name] = id;
    policy::Class cls;
    cls.name = name;
    cls.place = name.substr(0, name.find('.'));
    cls.addresses = entry.second;
    if (name == kSelf) {
      cls.kind = policy::ClassKind::Enforcer;
      view.self = id;
    } else {
      view.bindings.push_back({id, entry.first});
    }
    classes.push_back(std::move(cls));
  }
  for (const auto& [pair, cell] : cells_) {
    policy::Cell made = cell;
    made.from = ids.at(pair.first);
    made.to = ids.at(pair.second);
    site.matrix.cells.push_back(std::move(made));
  }
  std::sort(site.matrix.cells.begin(), site.matrix.cells.end(), [](const auto& a, const auto& b) {
    return std::pair(a.from, a.to) < std::pair(b.from, b.to);
  });

  site.coverage.n = classes.size();
  for (policy::ClassId from = 0; from < classes.size(); ++from) {
    for (policy::ClassId to = 0; to < classes.size(); ++to) {
      compiler::CellCoverage cell;
      cell.from = from;
      cell.to = to;
      const auto& from_leg = named.at(classes[from].name).first;
      if (from_leg != named.at(classes[to].name).first) {
        cell.cause = compiler::Cause::Rule;
        cell.path = {"fw"};
        cell.control = "fw";
      }
      site.coverage.cells.push_back(std::move(cell));
    }
  }
  site.coverage.views.push_back(std::move(view));
  return site;
}

std::string Sketch::nft() const {
  const compiler::Site made = site();
  return compiler::nftables(compiler::ir::make_enforcer(made, made.coverage.views.front())).text;
}

}  // namespace bulkhead::test
