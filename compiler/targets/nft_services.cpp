#include "compiler/targets/nft_services.h"

#include <algorithm>

namespace bulkhead::compiler {

namespace {

using policy::Kind;
using policy::Piece;

std::string verdict_of(const Piece& piece) {
  return piece.action == policy::Action::Deny ? "drop" : "accept";
}

std::string_view protocol_word(Kind kind) {
  switch (kind) {
    case Kind::Udp:
      return "udp";
    case Kind::Sctp:
      return "sctp";
    default:
      return "tcp";
  }
}

// What a kind of map is called and keyed by. Port first: an interval concatenation is searched
// field by field, and a first field that differs between elements ends the search at once.
struct MapShape {
  std::string_view prefix;
  std::string_view type;
  std::string_view selector;
  bool (*takes)(const Piece&);
  std::string (*key)(const Piece&);
};
constexpr MapShape kMapShapes[] = {
    {"p_", "inet_service . inet_proto", "th dport . meta l4proto",
     [](const Piece& piece) { return policy::has_ports(piece.key.kind); },
     [](const Piece& piece) {
       return nft_range(piece.ports) + " . " + std::string(protocol_word(piece.key.kind));
     }},
    {"i_", "inet_proto", "meta l4proto",
     [](const Piece& piece) { return piece.key.kind == Kind::Ip; },
     [](const Piece& piece) { return std::to_string(piece.key.protocol); }},
};

std::size_t count(const ir::ServiceSet& set, const MapShape& shape) {
  return static_cast<std::size_t>(std::count_if(set.pieces.begin(), set.pieces.end(),
                                                [&](const Piece* p) { return shape.takes(*p); }));
}

// The matches of one piece as rules; both families of a name where both ends have them.
std::vector<std::string> matches(const Piece& piece, ir::Families families) {
  const bool v4 = (families & ir::bit(Family::V4)) != 0;
  const bool v6 = (families & ir::bit(Family::V6)) != 0;
  std::vector<std::string> out;
  switch (piece.key.kind) {
    case Kind::Tcp:
    case Kind::Udp:
    case Kind::Sctp:
      out.push_back(std::string(protocol_word(piece.key.kind)) + " dport " +
                    nft_range(piece.ports));
      break;
    case Kind::Ip:
      out.push_back("meta l4proto " + std::to_string(piece.key.protocol));
      break;
    case Kind::Icmp:
      for (std::uint32_t row = piece.ports.first;
           row <= piece.ports.last && row < std::size(policy::kIcmpQueries); ++row) {
        const auto& query = policy::kIcmpQueries[row];
        if (v4 && query.v4_type)
          out.push_back("icmp type " + std::to_string(*query.v4_type));
        if (v6 && query.v6_type)
          out.push_back("icmpv6 type " + std::to_string(*query.v6_type));
      }
      break;
    case Kind::Dhcp:
      if (v4)
        out.push_back("meta nfproto ipv4 udp sport { 67, 68 } udp dport 67");
      if (v6)
        out.push_back("meta nfproto ipv6 udp sport { 546, 547 } udp dport 547");
      break;
    case Kind::Roce:
    case Kind::Ib:
    case Kind::GpuDirect:
      break;
  }
  return out;
}

}  // namespace

std::size_t service_maps(NftText& text, NftComments& comments, const ir::ServiceSet& set,
                         ir::Index number) {
  std::size_t elements = 0;
  for (const MapShape& shape : kMapShapes) {
    if (count(set, shape) <= kRulesInChain)
      continue;
    std::vector<std::string> items;
    bool ranges = false;
    for (const Piece* piece : set.pieces) {
      if (!shape.takes(*piece))
        continue;
      ranges |= piece->ports.first != piece->ports.last;
      items.push_back(shape.key(*piece) + " comment " + std::string(comments.of(piece->rules)) +
                      " : " + verdict_of(*piece));
    }
    text.open("map " + std::string(shape.prefix) + std::to_string(number));
    text.line("type " + std::string(shape.type) + " : verdict");
    if (ranges)
      text.line("flags interval");
    text.line("counter");
    text.elements(items);
    text.close();
    elements += items.size();
  }
  return elements;
}

std::size_t service_rules(NftText& text, NftComments& comments, const ir::ServiceSet& set,
                          ir::Index number, const std::string& bound) {
  std::size_t rules = 0;
  std::vector<const MapShape*> mapped;
  for (const MapShape& shape : kMapShapes) {
    if (count(set, shape) <= kRulesInChain)
      continue;
    mapped.push_back(&shape);
    text.line(bound + std::string(shape.selector) + " vmap @" + std::string(shape.prefix) +
              std::to_string(number) + " comment \"pair\"");
  }
  for (const Piece* piece : set.pieces) {
    if (std::any_of(mapped.begin(), mapped.end(),
                    [&](const MapShape* shape) { return shape->takes(*piece); }))
      continue;
    for (const auto& match : matches(*piece, set.families)) {
      std::string rule = bound;
      rule.append(match).append(" counter ").append(verdict_of(*piece)).append(" comment ");
      text.line(rule.append(comments.of(piece->rules)));
      ++rules;
    }
  }
  if (set.everything)
    text.line(bound + "counter accept comment " + nft_quoted(policy::kRuleInside));
  return rules;
}

std::string link_rule(NftComments& comments, const ir::LinkNeed& need, bool inbound) {
  std::string match;
  const Piece& piece = *need.piece;
  if (piece.key.kind == Kind::Dhcp) {
    // A client without an address asks everybody; the answer goes back the same way.
    const bool v4 = need.family == Family::V4;
    if (inbound)
      match = v4 ? "ip saddr 0.0.0.0 ip daddr 255.255.255.255 udp sport 68 udp dport 67"
                 : "ip6 saddr fe80::/10 ip6 daddr ff02::1:2 udp sport 546 udp dport 547";
    else
      match = v4 ? "ip daddr 255.255.255.255 udp sport 67 udp dport 68"
                 : "ip6 saddr fe80::/10 ip6 daddr fe80::/10 udp sport 547 udp dport 546";
  } else if (need.inbound == inbound && piece.key.group) {
    match = "ip6 saddr fe80::/10 ip6 daddr " + piece.key.group->str() + " meta l4proto " +
            std::to_string(piece.key.protocol);
  }
  if (match.empty())
    return match;
  return match + " counter " + verdict_of(piece) + " comment " +
         std::string(comments.of(piece.rules));
}

}  // namespace bulkhead::compiler
