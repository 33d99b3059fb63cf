#include "compiler/proof/subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/proof/family_fields.h"

namespace bulkhead::compiler::proof {

namespace {

AddressSet of_all(const std::vector<policy::Class>& classes) {
  std::vector<AddressRange> all;
  for (const policy::Class& cls : classes)
    all.insert(all.end(), cls.addresses.begin(), cls.addresses.end());
  return AddressSet::from(std::move(all));
}

}  // namespace

std::string_view to_string(Subject subject) {
  switch (subject) {
    case Subject::Any:
      return "any";
    case Subject::Tenants:
      return "tenants";
    case Subject::Classes:
      return "classes";
    case Subject::State:
      return "state";
    case Subject::Link:
      return "link";
    case Subject::Misplaced:
      return "misplaced";
    case Subject::Nobody:
      return "nobody";
    case Subject::Stranger:
      return "stranger";
  }
  return "";
}

std::string title(Subject subject, std::string_view enforcer) {
  switch (subject) {
    case Subject::Any:
      return "packets";
    case Subject::Tenants:
      return "between tenants";
    case Subject::Classes:
      return "between classes";
    case Subject::State:
      return "packets that begin no connection";
    case Subject::Link:
      return "what a link needs: neighbour discovery, groups, link-local addresses, loopback";
    case Subject::Misplaced:
      return "addresses of the site where they do not belong (forged, by another leg, or "
             "neighbours)";
    case Subject::Nobody:
      return "from or to addresses that nobody holds";
    case Subject::Stranger:
      return fmt::format("in or out by an interface that is no leg of {}", enforcer);
  }
  return "";
}

Subjects::Subjects(Diagrams& space, const Site* site, const EnforcerView* view, Passage passage)
    : space_(space), site_(site), view_(view) {
  if (site == nullptr || view == nullptr) {
    parts_.emplace_back(Subject::Any, space.everything());
    at_home_ = space.everything();
    usual_ = space.everything();
    return;
  }
  const auto& facts = site->inventory.enforcers.at(view->enforcer);
  in_vrf_ = std::any_of(facts.legs.begin(), facts.legs.end(),
                        [](const Leg& leg) { return leg.vrf.has_value(); });
  const bool entering = passage != Passage::Output, leaving = passage != Passage::Input;
  at_home_ = space.intersect(at_own_place(true, !entering), at_own_place(false, !leaving));
  if (passage == Passage::Forward)
    at_home_ = space.subtract(at_home_, between_neighbours());
  find_usual(passage);
  Diagram left = space.everything();
  const auto take = [&](Subject subject, Diagram set) {
    parts_.emplace_back(subject, space.intersect(left, set));
    left = space.subtract(left, set);
  };
  if (passage != Passage::Forward)
    take(Subject::Link, of_link());
  Diagram by_legs = space.everything();
  if (entering)
    by_legs = space.intersect(by_legs, on_legs(true));
  if (leaving)
    by_legs = space.intersect(by_legs, on_legs(false));
  take(Subject::Stranger, space.complement(by_legs));
  const AddressSet known = of_all(site->matrix.universe.classes);
  take(Subject::Nobody,
       space.complement(space.intersect(addresses(known, true), addresses(known, false))));
  take(Subject::Misplaced, space.complement(at_home_));
  take(Subject::Tenants, between_tenants());
  take(Subject::Classes, space.everything());
  std::sort(parts_.begin(), parts_.end());
}

Diagram Subjects::addresses(const AddressSet& set, bool source) {
  Diagram out = space_.nothing();
  for (const Family family : kFamilies) {
    std::vector<ValueRange> ranges;
    for (const AddressRange& range : of_family(set, family))
      ranges.push_back(values(range));
    const Field field = source ? proof::source(family) : destination(family);
    out = space_.unite(
        out, space_.intersect(space_.equal(Field::Family, family == Family::V4 ? kIpv4 : kIpv6),
                              space_.in(field, std::move(ranges))));
  }
  return out;
}

Diagram Subjects::at_interface(const std::string& leg, bool entering) {
  const Value name = interface_name(leg);
  if (!entering)
    return space_.equal(Field::OutInterface, name);
  const Diagram here = space_.equal(Field::InInterface, name);
  // The kernel tells a VRF device as interface and the leg as its port.
  return in_vrf_ ? space_.unite(here, space_.equal(Field::InPort, name)) : here;
}

Diagram Subjects::at_own_place(bool source, bool at_enforcer) {
  const auto& classes = site_->matrix.universe.classes;
  if (at_enforcer)
    return addresses(classes[view_->self].addresses, source);
  std::map<std::string, std::vector<AddressRange>> by_leg;
  for (const LegBinding& binding : view_->bindings) {
    auto& here = by_leg[binding.interface];
    const AddressSet& held = classes[binding.cls].addresses;
    here.insert(here.end(), held.begin(), held.end());
  }
  Diagram out = space_.nothing();
  for (auto& [leg, ranges] : by_leg)
    out =
        space_.unite(out, space_.intersect(at_interface(leg, source),
                                           addresses(AddressSet::from(std::move(ranges)), source)));
  return out;
}

// Hosts of one segment meet without its router, and the outside world is not ours.
Diagram Subjects::between_neighbours() {
  Diagram out = space_.nothing();
  for (const Leg& leg : site_->inventory.enforcers.at(view_->enforcer).legs) {
    if (!leg.segment && !leg.external)
      continue;
    const bool outside = leg.external.has_value();
    const std::string& place = outside ? leg.external->text : leg.segment->text;
    AddressSet there;
    for (const policy::Class& cls : site_->matrix.universe.classes)
      if (cls.place == place && (cls.kind == policy::ClassKind::External) == outside)
        there = there | cls.addresses;
    out = space_.unite(
        out, space_.intersect(space_.intersect(addresses(there, true), addresses(there, false)),
                              space_.intersect(at_interface(leg.interface, true),
                                               at_interface(leg.interface, false))));
  }
  return out;
}

void Subjects::find_usual(Passage passage) {
  usual_ = space_.everything();
  if (passage == Passage::Forward)
    return;
  const bool source = passage == Passage::Output;
  usual_ = space_.nothing();
  for (const Leg& leg : site_->inventory.enforcers.at(view_->enforcer).legs)
    for (const auto& own : {leg.v4, leg.v6})
      if (own)
        usual_ = space_.unite(
            usual_, space_.intersect(at_interface(leg.interface, !source),
                                     addresses(AddressSet{{own->address, own->address}}, source)));
}

Diagram Subjects::between_tenants() {
  std::map<std::string, AddressSet> by_tenant;
  AddressSet all;
  for (const policy::Class& cls : site_->matrix.universe.classes)
    if (!cls.tenant.empty())
      by_tenant[cls.tenant] = by_tenant[cls.tenant] | cls.addresses;
  for (const auto& [tenant, held] : by_tenant)
    all = all | held;
  Diagram out = space_.nothing();
  for (const auto& [tenant, held] : by_tenant)
    out = space_.unite(out, space_.intersect(addresses(held, true), addresses(all - held, false)));
  return out;
}

// By what such packets look like, whatever else of them is right.
Diagram Subjects::of_link() {
  const auto prefix = [&](std::string_view text, bool source) {
    return addresses(AddressSet{Prefix::parse(text).value().range()}, source);
  };
  constexpr Value kIcmp6 = 58;
  // Neighbour discovery (RFC 4861) and listener reports (RFC 2710, RFC 3810).
  const Diagram types =
      space_.in(Field::SourcePort, std::vector{icmp_types({130, 137}), icmp_types({143, 143})});
  const Diagram icmp6 = space_.intersect(
      space_.equal(Field::Family, kIpv6),
      space_.intersect(has_transport(space_), space_.equal(Field::Protocol, kIcmp6)));
  const Diagram sets[] = {space_.equal(Field::InInterface, interface_name("lo")),
                          space_.equal(Field::OutInterface, interface_name("lo")),
                          space_.intersect(icmp6, types),
                          prefix("fe80::/10", true),
                          prefix("::/128", true),
                          prefix("0.0.0.0/32", true),
                          prefix("fe80::/10", false),
                          prefix("ff00::/8", false),
                          prefix("224.0.0.0/4", false),
                          prefix("255.255.255.255/32", false)};
  return space_.unite(sets);
}

Diagram Subjects::on_legs(bool entering) {
  Diagram out = space_.nothing();
  for (const Leg& leg : site_->inventory.enforcers.at(view_->enforcer).legs)
    out = space_.unite(out, at_interface(leg.interface, entering));
  return out;
}

}  // namespace bulkhead::compiler::proof
