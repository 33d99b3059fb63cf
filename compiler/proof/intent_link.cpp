#include "compiler/proof/intent_link.h"

#include <algorithm>

#include "compiler/proof/family_fields.h"

namespace bulkhead::compiler::proof {

namespace {

using policy::Cell;
using policy::Kind;
using policy::Piece;

constexpr Value kUdp = 17, kIcmp6 = 58;

constexpr Terminal kNo = static_cast<Terminal>(Wanted::No);
constexpr Terminal kMust = static_cast<Terminal>(Wanted::Must);
constexpr Terminal kMay = static_cast<Terminal>(Wanted::May);

// Router and neighbour solicitation and advertisement, hop limit 255 (RFC 4861 6.1, 7.1). Not
// redirects: a router takes none.
constexpr ValueRange kNeighbourTypes{133, 136};
// MLD and MLDv2, hop limit 1 (RFC 2710 3, RFC 3810 5).
const std::vector<ValueRange> kListenerTypes{icmp_types({130, 132}), icmp_types({143, 143})};

}  // namespace

LinkIntents::LinkIntents(Diagrams& space, const Site& site, const EnforcerView& view)
    : space_(space), loopback_(interface_name("lo")) {
  const Diagram icmp6 = all_of({space_.equal(Field::Family, kIpv6), has_transport(space_),
                                space_.equal(Field::Protocol, kIcmp6)});
  const Diagram neighbour =
      all_of({icmp6, space_.in(Field::SourcePort, icmp_types(kNeighbourTypes))});
  const Diagram listener = all_of({icmp6, space_.in(Field::SourcePort, kListenerTypes)});
  neighbour_ = all_of({neighbour, space_.equal(Field::HopLimit, 255)});
  listener_ = all_of({listener, space_.equal(Field::HopLimit, 1)});
  alike_ = space_.unite(neighbour, listener);
  link_local_ =
      space_.unite(in_prefix(Field::Source6, "fe80::/10"), in_prefix(Field::Source6, "::/128"));
  find_legs(site, view);
  find_needs(site, view);
}

Diagram LinkIntents::all_of(std::initializer_list<Diagram> sets) {
  Diagram out = space_.everything();
  for (auto set = std::rbegin(sets); set != std::rend(sets); ++set)
    out = space_.intersect(*set, out);
  return out;
}

Diagram LinkIntents::in_prefix(Field field, std::string_view text) {
  const Prefix prefix = Prefix::parse(text).value();
  return all_of({space_.equal(Field::Family, prefix.family() == Family::V4 ? kIpv4 : kIpv6),
                 space_.in(field, values(prefix.range()))});
}

Diagram LinkIntents::udp(PortRange from, PortRange to) {
  return all_of({has_transport(space_), space_.equal(Field::Protocol, kUdp),
                 space_.in(Field::SourcePort, {from.first, from.last}),
                 space_.in(Field::DestinationPort, {to.first, to.last})});
}

Diagram LinkIntents::arriving_at(Value leg) {
  const Diagram here = space_.equal(Field::InInterface, leg);
  if (!in_vrf_)
    return here;
  // The kernel tells the VRF device as interface and the leg as its port.
  std::vector<ValueRange> all;
  for (const auto& [known, packets] : legs_)
    all.push_back({known, known});
  const Diagram elsewhere = space_.complement(space_.in(Field::InInterface, std::move(all)));
  return space_.unite(here, all_of({elsewhere, space_.equal(Field::InPort, leg)}));
}

void LinkIntents::find_legs(const Site& site, const EnforcerView& view) {
  const Enforcer& facts = site.inventory.enforcers.at(view.enforcer);
  for (const Leg& leg : facts.legs) {
    legs_[interface_name(leg.interface)];
    in_vrf_ |= leg.vrf.has_value();
  }
  for (auto& [leg, packets] : legs_)
    packets = arriving_at(leg);
  for (const Leg& leg : facts.legs) {
    const bool has_v6_class =
        std::any_of(view.bindings.begin(), view.bindings.end(), [&](const LegBinding& binding) {
          const auto& addresses = site.matrix.universe.classes[binding.cls].addresses;
          return binding.interface == leg.interface && !of_family(addresses, Family::V6).empty();
        });
    if (!leg.v6 && !has_v6_class)
      continue;
    const Diagram here = legs_.at(interface_name(leg.interface));
    on_v6_legs_ = space_.unite(on_v6_legs_, here);
    // A host asks from any address that it has there (RFC 4861 7.2.2).
    AddressSet bound;
    if (leg.v6)
      bound.add(leg.v6->prefix().range());
    for (const LegBinding& binding : view.bindings)
      if (binding.interface == leg.interface)
        bound = bound | of_family(site.matrix.universe.classes[binding.cls].addresses, Family::V6);
    std::vector<ValueRange> sources;
    for (const AddressRange& range : bound)
      sources.push_back(values(range));
    const Diagram speakers =
        space_.unite(link_local_, all_of({space_.equal(Field::Family, kIpv6),
                                          space_.in(Field::Source6, std::move(sources))}));
    speaking_ = space_.unite(speaking_, all_of({here, speakers, neighbour_}));
  }
}

void LinkIntents::find_needs(const Site& site, const EnforcerView& view) {
  const auto& classes = site.matrix.universe.classes;
  const auto has = [&](policy::ClassId cls, Family family) {
    return !of_family(classes[cls].addresses, family).empty();
  };
  const auto is_v6_group = [](const Piece& piece) {
    return piece.key.kind == Kind::Ip && piece.key.group && piece.key.group->family == Family::V6;
  };
  for (const LegBinding& binding : view.bindings) {
    const Value leg = interface_name(binding.interface);
    if (const Cell* cell = site.matrix.find(binding.cls, view.self))
      for (const Piece& piece : cell->pieces) {
        for (const Family family : kFamilies)
          if (piece.key.kind == Kind::Dhcp && has(binding.cls, family) && has(view.self, family))
            need_dhcp(piece, family, leg);
        if (is_v6_group(piece))
          need_group(piece, true, leg);
      }
    if (const Cell* cell = site.matrix.find(view.self, binding.cls))
      for (const Piece& piece : cell->pieces)
        if (is_v6_group(piece))
          need_group(piece, false, leg);
  }
  if (const Cell* members = site.matrix.find(view.self, view.self))
    for (const Piece& piece : members->pieces)
      if (is_v6_group(piece))
        for (const auto& [leg, packets] : legs_)
          for (const bool inbound : {true, false})
            need_group(piece, inbound, leg);
}

void LinkIntents::add(Diagrams& space, Needs& needs, const Piece& piece, Diagram packets) {
  Diagram& set = piece.action == policy::Action::Deny ? needs.denied : needs.allowed;
  set = space.unite(set, packets);
}

// A client without an address asks everybody; the answer goes back the same way (RFC 2131 4.1, RFC
// 8415 7.1).
void LinkIntents::need_dhcp(const Piece& piece, Family family, Value leg) {
  const Diagram arriving = legs_.at(leg);
  const Diagram leaving = space_.equal(Field::OutInterface, leg);
  if (family == Family::V4) {
    const Diagram to_all = in_prefix(Field::Destination4, "255.255.255.255/32");
    const Diagram nobody = in_prefix(Field::Source4, "0.0.0.0/32");
    without_address_ = space_.unite(without_address_, all_of({arriving, nobody}));
    add(space_, in_, piece, all_of({arriving, nobody, to_all, udp({68, 68}, {67, 67})}));
    add(space_, out_, piece, all_of({to_all, leaving, udp({67, 67}, {68, 68})}));
    return;
  }
  const Diagram from = in_prefix(Field::Source6, "fe80::/10");
  add(space_, in_, piece,
      all_of({arriving, from, in_prefix(Field::Destination6, "ff02::1:2/128"),
              udp({546, 546}, {547, 547})}));
  add(space_, out_, piece,
      all_of({from, in_prefix(Field::Destination6, "fe80::/10"), leaving,
              udp({547, 547}, {546, 546})}));
}

void LinkIntents::need_group(const Piece& piece, bool inbound, Value leg) {
  const Diagram packets = all_of({in_prefix(Field::Source6, "fe80::/10"),
                                  space_.equal(Field::Destination6, to_value(*piece.key.group)),
                                  space_.equal(Field::Protocol, piece.key.protocol)});
  if (inbound)
    add(space_, in_, piece, all_of({legs_.at(leg), on_v6_legs_, packets}));
  else
    add(space_, out_, piece, all_of({packets, space_.equal(Field::OutInterface, leg)}));
}

Diagram LinkIntents::input(Diagram by_class) {
  const Diagram must = space_.constant(kMust), no = space_.constant(kNo);
  const Diagram of_link = space_.unite(all_of({on_v6_legs_, link_local_}), without_address_);
  Diagram out = space_.if_then_else(of_link, no, by_class);
  out = space_.if_then_else(space_.subtract(in_.allowed, in_.denied), must, out);
  out = space_.if_then_else(all_of({on_v6_legs_, link_local_, listener_}), must, out);
  out = space_.if_then_else(all_of({on_v6_legs_, neighbour_}), no, out);
  out =
      space_.if_then_else(all_of({on_v6_legs_, alike_}),
                          space_.relabel(out, [](Terminal t) { return t == kNo ? kMay : t; }), out);
  out = space_.if_then_else(speaking_, must, out);
  const Diagram martian = space_.unite(in_prefix(Field::Destination4, "127.0.0.0/8"),
                                       in_prefix(Field::Destination6, "::1/128"));
  out = space_.if_then_else(martian, no, out);
  return space_.if_then_else(space_.equal(Field::InInterface, loopback_), must, out);
}

Diagram LinkIntents::output(Diagram by_class) {
  const Diagram must = space_.constant(kMust);
  Diagram out = space_.if_then_else(out_.denied, space_.constant(kNo), by_class);
  out = space_.if_then_else(space_.subtract(out_.allowed, out_.denied), must, out);
  if (on_v6_legs_ != space_.nothing()) {
    out = space_.if_then_else(
        alike_, space_.relabel(out, [](Terminal t) { return t == kNo ? kMay : t; }), out);
    out = space_.if_then_else(space_.unite(neighbour_, listener_), must, out);
  }
  return space_.if_then_else(space_.equal(Field::OutInterface, loopback_), must, out);
}

}  // namespace bulkhead::compiler::proof
