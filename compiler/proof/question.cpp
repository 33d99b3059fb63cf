#include "compiler/proof/question.h"

#include "compiler/proof/family_fields.h"

namespace bulkhead::compiler::proof {

namespace {

constexpr Value kIcmp = 1, kIcmp6 = 58, kTcp = 6;

Diagram addresses(Diagrams& space, const AddressSet& set, Family family, Field field) {
  if (set.empty())
    return space.everything();
  std::vector<ValueRange> ranges;
  for (const AddressRange& range : of_family(set, family))
    ranges.push_back(values(range));
  return space.in(field, std::move(ranges));
}

Diagram interfaces(Diagrams& space, const std::vector<std::string>& names, Field field) {
  if (names.empty())
    return space.everything();
  std::vector<ValueRange> ranges;
  for (const std::string& name : names)
    ranges.push_back(name.ends_with('*') ? name_prefix(name.substr(0, name.size() - 1))
                                         : ValueRange{interface_name(name), interface_name(name)});
  return space.in(field, std::move(ranges));
}

class Asking {
 public:
  Asking(Diagrams& space, const Question& question) : space_(space), question_(question) {}

  Diagram of(Family family) {
    const bool v4 = family == Family::V4;
    set_ = space_.equal(Field::Family, v4 ? kIpv4 : kIpv6);
    add(addresses(space_, question_.from, family, source(family)));
    add(addresses(space_, question_.to, family, destination(family)));
    add(interfaces(space_, question_.in, Field::InInterface));
    add(interfaces(space_, question_.out, Field::OutInterface));
    whole(v4);
    transport(v4);
    state();
    return set_;
  }

 private:
  void add(Diagram set) { set_ = space_.intersect(set_, set); }
  void only(Field field, const std::vector<ValueRange>& ranges) {
    if (!ranges.empty())
      add(space_.in(field, ranges));
  }

  void whole(bool v4) {
    add(space_.in(Field::Fragment, {{0, 0}, {kDontFragment, kDontFragment}}));
    if (v4)
      return;
    add(space_.equal(Field::Fragment, 0));
    for (const Field header : {Field::HopByHopHeader, Field::RoutingHeader, Field::FragmentHeader,
                               Field::DestinationHeader, Field::MobilityHeader})
      add(space_.equal(header, 0));
  }

  void transport(bool v4) {
    std::vector<ValueRange> protocols = question_.protocols;
    const auto& types = v4 ? question_.icmp4 : question_.icmp6;
    if (!types.empty()) {
      const Value icmp = v4 ? kIcmp : kIcmp6;
      protocols = {{icmp, icmp}};
      std::vector<ValueRange> ranges;
      for (const ValueRange& type : types)
        ranges.push_back(icmp_types(type));
      add(space_.in(Field::SourcePort, std::move(ranges)));
    } else if (!question_.icmp4.empty() || !question_.icmp6.empty()) {
      set_ = space_.nothing();  // the other family does not know this kind
    }
    only(Field::Protocol, protocols);
    // Without extension headers the first header is the transport's.
    if (!v4 && !protocols.empty())
      only(Field::NextHeader, protocols);
    only(Field::DestinationPort, question_.ports);
    only(Field::SourcePort, question_.source_ports);
  }

  void state() {
    if (!question_.state)
      return;
    add(space_.equal(Field::CtState, static_cast<Value>(*question_.state)));
    if (*question_.state == CtState::Established)
      add(space_.equal(Field::CtDirection, question_.is_reply ? kReply : kOriginal));
    if (*question_.state != CtState::New)
      return;
    add(space_.equal(Field::CtDirection, kOriginal));
    for (const Field field : {Field::CtStatus, Field::CtMark, Field::Mark})
      add(space_.equal(field, 0));
    // Of TCP a SYN, perhaps with the two bits of ECN (RFC 3168 6.1.1).
    add(space_.if_then_else(
        space_.equal(Field::Protocol, kTcp),
        space_.in(Field::QueuePair, {{0x020000, 0x02ffff}, {0xc20000, 0xc2ffff}}),
        space_.everything()));
  }

  Diagrams& space_;
  const Question& question_;
  Diagram set_;
};

}  // namespace

Diagram asked(Diagrams& space, const Ruleset& ruleset, const Question& question) {
  Asking asking(space, question);
  return space.intersect(possible(space, ruleset, question.passage),
                         space.unite(asking.of(Family::V4), asking.of(Family::V6)));
}

}  // namespace bulkhead::compiler::proof
