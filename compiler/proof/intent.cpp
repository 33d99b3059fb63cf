#include "compiler/proof/intent.h"

#include <algorithm>
#include <array>
#include <map>

#include "compiler/disjoint.h"
#include "compiler/proof/family_fields.h"
#include "compiler/proof/intent_link.h"
#include "compiler/proof/intent_services.h"

namespace bulkhead::compiler::proof {

namespace {

using policy::Cell;
using policy::ClassId;
using policy::Piece;

constexpr Terminal kNo = static_cast<Terminal>(Wanted::No);

constexpr Value kHere = 0;  // no interface to leave by: the enforcer itself

struct Target {
  Value out = kHere;  // the leg that leads there
  bool any_out = false;
  Diagram wanted;
  auto operator<=>(const Target&) const = default;
};
using Claims = std::array<std::vector<Claim<Address, Target>>, 2>;  // by family

class Builder {
 public:
  Builder(Diagrams& space, const Site& site, const EnforcerView& view)
      : space_(space),
        site_(site),
        view_(view),
        classes_(site.matrix.universe.classes),
        facts_(site.inventory.enforcers.at(view.enforcer)),
        services_(space),
        no_(space.constant(kNo)) {
    for (const LegBinding& binding : view.bindings)
      legs_[binding.cls] = interface_name(binding.interface);
    legs_[view.self] = kHere;
  }

  Intent build() {
    const Diagram passing = by_leg();
    const Diagram may = space_.constant(static_cast<Terminal>(Wanted::May));
    LinkIntents link(space_, site_, view_);
    Intent out;
    const Diagram impossible = port_below_a_leg();
    out.forward = space_.if_then_else(impossible, may, passing);
    out.input = space_.if_then_else(impossible, may, link.input(passing));
    out.output = link.output(own_packets());
    return out;
  }

 private:
  bool crosses(const Cell& cell) const {
    const auto from = legs_.find(cell.from), to = legs_.find(cell.to);
    if (from == legs_.end() || to == legs_.end())
      return false;
    if (cell.from == view_.self || cell.to == view_.self)
      return true;
    if (cell.everything && from->second != to->second)
      return true;
    const auto& path = site_.coverage.at(cell.from, cell.to).path;
    return std::find(path.begin(), path.end(), view_.enforcer) != path.end();
  }
  const Cell* crossing(ClassId from, ClassId to) const {
    const Cell* cell = site_.matrix.find(from, to);
    return cell != nullptr && crosses(*cell) ? cell : nullptr;
  }

  // ---- where a packet goes

  Diagram leaving_by(const std::vector<Target>& targets, Diagram others) {
    Diagram out = others;
    for (const Target& target : targets)
      out = target.any_out
                ? join(target.wanted, out)
                : space_.if_then_else(
                      space_.equal(Field::OutInterface, target.out),
                      join(target.wanted, space_.fix(out, Field::OutInterface, target.out)), out);
    return out;
  }

  // Where two things may be said of a packet (an address in two prefixes of one leg), the wish that
  // it passes counts.
  Diagram join(Diagram a, Diagram b) {
    return space_.apply(a, b, [](Terminal x, Terminal y) {
      const auto rank = [](Terminal t) {
        return t == kNo ? 0 : t == static_cast<Terminal>(Wanted::May) ? 1 : 2;
      };
      return rank(x) >= rank(y) ? x : y;
    });
  }

  Diagram to_destinations(Claims claims, Family family) {
    const Diagram others = services_.to_others(family);
    std::vector<Branch> branches;
    for (auto& [range, targets] : disjoint(std::move(claims[family == Family::V4 ? 0 : 1])))
      branches.push_back({values(range), leaving_by(targets, others)});
    return space_.branch(destination(family), std::move(branches), others);
  }

  void claim_cell(ClassId from, ClassId to, Claims& claims) {
    const Cell* forth = crossing(from, to);
    const Cell* back = crossing(to, from);
    if (forth == nullptr && back == nullptr)
      return;
    for (const Family family : kFamilies) {
      const Diagram wanted = services_.between(forth, back, family);
      for (const AddressRange& range : classes_[to].addresses)
        if (range.first.family == family)
          claims[index(family)].push_back({range, Target{legs_.at(to), false, wanted}});
    }
    if (forth != nullptr)
      claim_groups(*forth, legs_.at(to), false, claims);
  }

  void claim_groups(const Cell& cell, Value out, bool any_out, Claims& claims) {
    std::map<Address, std::vector<const Piece*>> groups;
    for (const Piece& piece : cell.pieces)
      if (piece.key.group)
        groups[*piece.key.group].push_back(&piece);
    for (const auto& [group, pieces] : groups)
      claims[index(group.family)].push_back(
          {{group, group}, Target{out, any_out, services_.to_group(pieces, group.family)}});
  }

  std::array<Diagram, 2> from_class(ClassId from) {
    Claims claims;
    for (const auto& [to, leg] : legs_)
      if (to != from)
        claim_cell(from, to, claims);
    // A class speaks to itself through an enforcer only where it stands on both sides of one.
    if (from != view_.self && crossing(from, from) != nullptr)
      claim_cell(from, from, claims);
    if (from == view_.self)
      if (const Cell* members = site_.matrix.find(from, from))
        claim_groups(*members, kHere, true, claims);
    return {to_destinations(claims, Family::V4), to_destinations(claims, Family::V6)};
  }

  // What the other member of a pair says from the addresses that both hold.
  std::array<Diagram, 2> from_peer() {
    Claims claims;
    claim_groups(*site_.matrix.find(view_.self, view_.self), kHere, false, claims);
    return {to_destinations(claims, Family::V4), to_destinations(claims, Family::V6)};
  }

  // ---- where a packet comes from

  Diagram from_sources(const std::array<std::vector<Branch>, 2>& sources) {
    const Diagram v4 = space_.branch(Field::Source4, sources[0], no_);
    const Diagram v6 = space_.branch(Field::Source6, sources[1], no_);
    return space_.branch(Field::Family, {{{kIpv4, kIpv4}, v4}, {{kIpv6, kIpv6}, v6}}, no_);
  }

  void add_source(const AddressRange& range, const std::array<Diagram, 2>& wanted,
                  std::array<std::vector<Branch>, 2>& sources) {
    const std::size_t at = index(range.first.family);
    sources[at].push_back({values(range), wanted[at]});
  }

  Diagram by_leg() {
    std::map<Value, std::array<std::vector<Branch>, 2>> sources;
    for (const Leg& leg : facts_.legs)
      sources[interface_name(leg.interface)];
    if (facts_.members.size() > 1 && site_.matrix.find(view_.self, view_.self) != nullptr) {
      const auto wanted = from_peer();
      for (const Leg& leg : facts_.legs)
        for (const auto& own : {leg.v4, leg.v6})
          if (own)
            add_source({own->address, own->address}, wanted,
                       sources[interface_name(leg.interface)]);
    }
    for (const LegBinding& binding : view_.bindings) {
      const auto wanted = from_class(binding.cls);
      for (const AddressRange& range : classes_[binding.cls].addresses)
        add_source(range, wanted, sources[interface_name(binding.interface)]);
    }
    std::vector<Branch> legs;
    for (const auto& [leg, of_leg] : sources)
      legs.push_back({{leg, leg}, from_sources(of_leg)});
    // A leg in a VRF: the kernel tells the VRF device as interface and the leg as its port.
    const bool in_vrf = std::any_of(facts_.legs.begin(), facts_.legs.end(),
                                    [](const Leg& leg) { return leg.vrf.has_value(); });
    const Diagram others = in_vrf ? space_.branch(Field::InPort, legs, no_) : no_;
    return space_.branch(Field::InInterface, std::move(legs), others);
  }

  // Only a VRF device has a port below it, and no leg is one.
  Diagram port_below_a_leg() {
    std::vector<ValueRange> legs;
    for (const Leg& leg : facts_.legs)
      legs.push_back({interface_name(leg.interface), interface_name(leg.interface)});
    return space_.subtract(space_.in(Field::InInterface, std::move(legs)),
                           space_.equal(Field::InPort, 0));
  }

  Diagram own_packets() {
    const auto wanted = from_class(view_.self);
    std::array<std::vector<Branch>, 2> sources;
    for (const AddressRange& range : classes_[view_.self].addresses)
      add_source(range, wanted, sources);
    return from_sources(sources);
  }

  Diagrams& space_;
  const Site& site_;
  const EnforcerView& view_;
  const std::vector<policy::Class>& classes_;
  const Enforcer& facts_;
  ServiceIntents services_;
  Diagram no_;
  std::map<ClassId, Value> legs_;  // of classes that this enforcer sees
};

}  // namespace

Intent intend(Diagrams& space, const Site& site, const EnforcerView& view) {
  return Builder(space, site, view).build();
}

}  // namespace bulkhead::compiler::proof
