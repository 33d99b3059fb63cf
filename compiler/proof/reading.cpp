#include "compiler/proof/reading.h"

#include <algorithm>
#include <array>

namespace bulkhead::compiler::proof {

namespace {

// A selector is these bits of this field.
struct Part {
  Selector selector;
  Field field;
  unsigned shift = 0;
};
constexpr Part kParts[] = {
    {Selector::EtherDaddr, Field::EtherDestination},
    {Selector::EtherSaddr, Field::EtherSource},
    {Selector::EtherType, Field::FrameType},
    {Selector::VlanPcp, Field::VlanPriority},
    {Selector::VlanDei, Field::VlanDei},
    {Selector::VlanId, Field::VlanId},
    {Selector::VlanType, Field::VlanType},
    {Selector::Ip4Dscp, Field::Dscp},
    {Selector::Ip4Ecn, Field::Ecn},
    {Selector::Ip4Length, Field::NetworkLength},
    {Selector::Ip4Id, Field::NetworkId},
    {Selector::Ip4FragOff, Field::Fragment},
    {Selector::Ip4Ttl, Field::HopLimit},
    {Selector::Ip4Protocol, Field::Protocol},
    {Selector::Ip4Saddr, Field::Source4},
    {Selector::Ip4Daddr, Field::Destination4},
    {Selector::Ip6Dscp, Field::Dscp},
    {Selector::Ip6Ecn, Field::Ecn},
    {Selector::Ip6FlowLabel, Field::FlowLabel},
    {Selector::Ip6Length, Field::NetworkLength},
    {Selector::Ip6NextHeader, Field::NextHeader},
    {Selector::Ip6HopLimit, Field::HopLimit},
    {Selector::Ip6Saddr, Field::Source6},
    {Selector::Ip6Daddr, Field::Destination6},
    {Selector::ArpOperation, Field::ArpOperation},
    {Selector::ArpSaddrEther, Field::ArpSourceEther},
    {Selector::ArpSaddrIp, Field::Source4},
    {Selector::ArpDaddrEther, Field::ArpDestinationEther},
    {Selector::ArpDaddrIp, Field::Destination4},
    {Selector::ExtHopByHop, Field::HopByHopHeader},
    {Selector::ExtRouting, Field::RoutingHeader},
    {Selector::ExtFragment, Field::FragmentHeader},
    {Selector::ExtDestination, Field::DestinationHeader},
    {Selector::ExtMobility, Field::MobilityHeader},
    {Selector::FragmentOffset, Field::Fragment},
    {Selector::FragmentMore, Field::Fragment, 13},
    {Selector::ThSport, Field::SourcePort},
    {Selector::ThDport, Field::DestinationPort},
    {Selector::TcpFlags, Field::QueuePair, 16},
    {Selector::IcmpType, Field::SourcePort, 8},
    {Selector::IcmpCode, Field::SourcePort},
    {Selector::BthOpcode, Field::BthOpcode},
    {Selector::BthPkey, Field::BthPKey},
    {Selector::BthDestQp, Field::QueuePair},
    {Selector::MadClass, Field::ManagementClass},
    {Selector::MadAttribute, Field::ManagementAttribute},
    {Selector::MetaL4proto, Field::Protocol},
    {Selector::MetaMark, Field::Mark},
    {Selector::MetaIifname, Field::InInterface},
    {Selector::MetaOifname, Field::OutInterface},
    {Selector::MetaIifgroup, Field::InGroup},
    {Selector::MetaOifgroup, Field::OutGroup},
    {Selector::MetaIiftype, Field::InType},
    {Selector::MetaOiftype, Field::OutType},
    {Selector::MetaPkttype, Field::PacketType},
    {Selector::MetaLength, Field::PacketLength},
    {Selector::MetaPriority, Field::Priority},
    {Selector::MetaSkuid, Field::UserId},
    {Selector::MetaSkgid, Field::GroupId},
    {Selector::MetaSdifname, Field::InPort},
    {Selector::MetaNftrace, Field::Trace},
    {Selector::CtDirection, Field::CtDirection},
    {Selector::CtStatus, Field::CtStatus},
    {Selector::CtMark, Field::CtMark},
    {Selector::CtZone, Field::CtZone},
    {Selector::CtProtocol, Field::CtProtocol},
    {Selector::CtOriginalSaddr4, Field::CtOriginalSource4},
    {Selector::CtOriginalDaddr4, Field::CtOriginalDestination4},
    {Selector::CtOriginalSaddr6, Field::CtOriginalSource6},
    {Selector::CtOriginalDaddr6, Field::CtOriginalDestination6},
    {Selector::CtOriginalSport, Field::CtOriginalSourcePort},
    {Selector::CtOriginalDport, Field::CtOriginalDestinationPort},
    {Selector::CtReplySaddr4, Field::CtReplySource4},
    {Selector::CtReplyDaddr4, Field::CtReplyDestination4},
    {Selector::CtReplySaddr6, Field::CtReplySource6},
    {Selector::CtReplyDaddr6, Field::CtReplyDestination6},
    {Selector::CtReplySport, Field::CtReplySourcePort},
    {Selector::CtReplyDport, Field::CtReplyDestinationPort},
};

struct FibPart {
  Selector selector;
  FibQuery query;
  Field field;
};
constexpr FibPart kFibParts[] = {
    {Selector::FibOif, {.saddr = true}, Field::FibSourceRoute},
    {Selector::FibOif, {.saddr = true, .iif = true}, Field::FibSourceRouteBound},
    {Selector::FibOif, {.daddr = true}, Field::FibDestinationRoute},
    {Selector::FibOifname, {.saddr = true}, Field::FibSourceOut},
    {Selector::FibOifname, {.daddr = true}, Field::FibDestinationOut},
    {Selector::FibType, {.saddr = true}, Field::FibSourceType},
    {Selector::FibType, {.daddr = true}, Field::FibDestinationType},
    {Selector::FibType, {.daddr = true, .iif = true}, Field::FibDestinationTypeBound},
};

// Values that the kernel writes as bits or large numbers, and the field as small ones.
struct Code {
  Value kernel;
  Value field;
};
constexpr Code kNfproto[] = {{2, kIpv4}, {10, kIpv6}, {3, kArp}};
constexpr Code kEtherTypes[] = {{kEtherIp, kIpv4}, {kEtherIp6, kIpv6}, {kEtherArp, kArp}};
constexpr Value code(CtState state) {
  return static_cast<Value>(state);
}
constexpr Code kStates[] = {{kCtNew, code(CtState::New)},
                            {kCtEstablished, code(CtState::Established)},
                            {kCtRelated, code(CtState::Related)},
                            {kCtInvalid, code(CtState::Invalid)},
                            {kCtUntracked, code(CtState::Untracked)}};

std::optional<Part> part_of(const Operand& operand) {
  if (operand.selector == Selector::FibOif || operand.selector == Selector::FibOifname ||
      operand.selector == Selector::FibType) {
    for (const FibPart& part : kFibParts)
      if (part.selector == operand.selector && part.query == operand.fib)
        return Part{part.selector, part.field};
    return {};
  }
  const auto* const found = std::find_if(std::begin(kParts), std::end(kParts), [&](const Part& p) {
    return p.selector == operand.selector;
  });
  return found == std::end(kParts) ? std::nullopt : std::optional(*found);
}

Value seen(const Operand& operand, Value value) {
  return (value & operand.mask) ^ operand.flip;
}

Diagram child_at(const std::vector<Branch>& branches, Value value, Diagram otherwise) {
  for (const Branch& branch : branches)
    if (branch.range.contains(value))
      return branch.child;
  return otherwise;
}

Diagram read_codes(Diagrams& space, const Operand& operand, const std::vector<Branch>& branches,
                   Diagram otherwise, Field field, std::span<const Code> codes) {
  std::vector<Branch> out;
  for (const Code& code : codes)
    out.push_back(
        {{code.field, code.field}, child_at(branches, seen(operand, code.kernel), otherwise)});
  return space.branch(field, out, otherwise);
}

Diagram read_part(Diagrams& space, const Operand& operand, const std::vector<Branch>& branches,
                  Diagram otherwise, const Part& part) {
  const unsigned field_bits = info(part.field).bits;
  const unsigned width = bits(operand);
  const Value ones = greatest(std::min(width, field_bits));
  if (part.shift == 0 && width >= field_bits && (operand.mask & ones) == ones &&
      (operand.flip & ones) == 0)
    return space.branch(part.field, branches, otherwise);
  std::vector<Branch> shifted;
  for (const Branch& branch : branches) {
    if (branch.range.first > ones)
      continue;
    const Value last = std::min(branch.range.last, ones);
    shifted.push_back(
        {{branch.range.first << part.shift, (last << part.shift) | (greatest(part.shift + 1) >> 1)},
         branch.child});
  }
  return space.masked(space.branch(part.field, shifted, otherwise), part.field,
                      (operand.mask & ones) << part.shift, (operand.flip & ones) << part.shift);
}

// Index 0 is no device. Which device has another index, the ruleset does not say.
std::optional<Diagram> read_index(Diagrams& space, const Operand& operand,
                                  const std::vector<Branch>& branches, Diagram otherwise,
                                  Field name) {
  for (const Branch& branch : branches)
    if (branch.range.last != 0)
      return {};
  if (operand.flip != 0 || (operand.mask & greatest(32)) != greatest(32))
    return {};
  return space.branch(name, {{{0, 0}, child_at(branches, 0, otherwise)}}, otherwise);
}

Diagram family(Diagrams& space, Value first, Value last) {
  return space.in(Field::Family, {first, last});
}

Diagram has_connection(Diagrams& space) {
  return space.in(Field::CtState, {code(CtState::New), code(CtState::Related)});
}

bool is_one_of(Selector selector, std::initializer_list<Selector> list) {
  return std::find(list.begin(), list.end(), selector) != list.end();
}

Diagram has_transport(Diagrams& space) {
  // A later fragment has no transport header, not even where an IPv6 packet has others.
  const Diagram first =
      space.masked(space.equal(Field::Fragment, 0), Field::Fragment, kFragmentOffset, 0);
  const Diagram whole = space.equal(Field::FragmentHeader, 0);
  return space.branch(Field::Family,
                      {{{kIpv4, kIpv4}, first}, {{kIpv6, kIpv6}, space.unite(whole, first)}},
                      space.nothing());
}

}  // namespace

Diagram readable(Diagrams& space, const Operand& operand) {
  const Selector selector = operand.selector;
  switch (selector == Selector::Raw ? operand.place.base : info(selector).base) {
    case Base::Link:
      return space.equal(Field::LinkHeader, 1);
    case Base::Transport: {
      const SelectorInfo& known = info(selector);
      const Place place =
          selector == Selector::Raw ? operand.place : Place{known.base, known.offset, known.bits};
      return is_read_in_fragments(place) ? family(space, kIpv4, kIpv6) : has_transport(space);
    }
    case Base::Extension:
      if (is_one_of(selector, {Selector::FragmentOffset, Selector::FragmentMore}))
        return space.intersect(family(space, kIpv6, kIpv6), space.equal(Field::FragmentHeader, 1));
      return family(space, kIpv6, kIpv6);
    case Base::Conntrack:
      if (selector == Selector::CtState)
        return space.everything();
      if (is_one_of(selector, {Selector::CtOriginalSaddr4, Selector::CtOriginalDaddr4,
                               Selector::CtReplySaddr4, Selector::CtReplyDaddr4}))
        return space.intersect(family(space, kIpv4, kIpv4), has_connection(space));
      if (is_one_of(selector, {Selector::CtOriginalSaddr6, Selector::CtOriginalDaddr6,
                               Selector::CtReplySaddr6, Selector::CtReplyDaddr6}))
        return space.intersect(family(space, kIpv6, kIpv6), has_connection(space));
      return has_connection(space);
    case Base::Meta:
      if (selector == Selector::MetaL4proto)
        return family(space, kIpv4, kIpv6);
      if (is_one_of(selector, {Selector::MetaIifgroup, Selector::MetaIiftype}))
        return space.complement(space.equal(Field::InInterface, 0));
      if (is_one_of(selector, {Selector::MetaOifgroup, Selector::MetaOiftype}))
        return space.complement(space.equal(Field::OutInterface, 0));
      if (is_one_of(selector, {Selector::MetaSkuid, Selector::MetaSkgid}))
        return space.equal(Field::LocalSocket, 1);
      return space.everything();
    case Base::Network:
    case Base::Lookup:
      break;
  }
  return space.everything();
}

std::optional<Diagram> read(Diagrams& space, const Operand& operand,
                            const std::vector<Branch>& branches, Diagram otherwise) {
  switch (operand.selector) {
    case Selector::CtState:
      return read_codes(space, operand, branches, otherwise, Field::CtState, kStates);
    case Selector::MetaNfproto:
    case Selector::CtL3proto:
      return read_codes(space, operand, branches, otherwise, Field::Family, kNfproto);
    case Selector::MetaProtocol: {
      const Diagram other = read_part(space, operand, branches, otherwise,
                                      {Selector::MetaProtocol, Field::OtherProtocol});
      const Diagram known =
          read_codes(space, operand, branches, otherwise, Field::Family, kEtherTypes);
      return space.if_then_else(family(space, kOtherFamily, kOtherFamily), other, known);
    }
    case Selector::MetaIif:
      return read_index(space, operand, branches, otherwise, Field::InInterface);
    case Selector::MetaOif:
      return read_index(space, operand, branches, otherwise, Field::OutInterface);
    case Selector::MetaSdif:
      return read_index(space, operand, branches, otherwise, Field::InPort);
    default:
      break;
  }
  if (const auto part = part_of(operand))
    return read_part(space, operand, branches, otherwise, *part);
  return {};
}

std::optional<Field> field_of(const Operand& operand) {
  const auto part = part_of(operand);
  if (!part || part->shift != 0)
    return {};
  const Value ones = max_of(part->field);
  if (bits(operand) < info(part->field).bits || (operand.mask & ones) != ones ||
      (operand.flip & ones) != 0)
    return {};
  return part->field;
}

std::vector<Value> values_of(const Packet& packet) {
  std::vector<Value> values(kFieldCount);
  const auto set = [&](Field field, Value value) {
    values[static_cast<std::size_t>(field)] = value;
  };
  const bool v4 = packet.ethertype == kEtherIp, v6 = packet.ethertype == kEtherIp6;
  for (const Part& part : kParts) {
    const SelectorInfo& known = info(part.selector);
    const bool of_v4 = known.name.starts_with("ip "), of_v6 = known.name.starts_with("ip6 ");
    const bool of_arp = known.name.starts_with("arp ");
    if ((of_v4 && !v4) || (of_v6 && !v6) || (of_arp && packet.ethertype != kEtherArp))
      continue;
    if (part.shift != 0 || known.bits < info(part.field).bits)
      continue;  // the field is read whole by another selector
    Operand operand;
    operand.selector = part.selector;
    if (const auto value = read(packet, operand))
      set(part.field, *value);
  }
  const auto of = [&](Selector selector) {
    Operand operand;
    operand.selector = selector;
    return read(packet, operand).value_or(0);
  };
  set(Field::Family, v4 ? kIpv4 : v6 ? kIpv6 : packet.ethertype == kEtherArp ? kArp : kOtherFamily);
  set(Field::OtherProtocol, packet.ethertype);
  set(Field::LinkHeader, packet.link.empty() ? 0 : 1);
  set(Field::LocalSocket, packet.uid ? 1 : 0);
  // The other two bytes of a later fragment are never read.
  if (transport_of(packet) && transport_of(packet)->later_fragment)
    set(Field::QueuePair, of(Selector::TcpFlags) << 16);
  if (v6)
    set(Field::Fragment, of(Selector::FragmentMore) << 13 | of(Selector::FragmentOffset));
  for (const Code& state : kStates)
    if (packet.ct_state == state.kernel)
      set(Field::CtState, state.field);
  return values;
}

}  // namespace bulkhead::compiler::proof
