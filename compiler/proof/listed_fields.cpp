#include "compiler/proof/listed_fields.h"

#include <algorithm>
#include <array>
#include <optional>

#include "compiler/proof/listed_values.h"

namespace bulkhead::compiler::proof {

namespace {

// ---- payload

struct PayloadField {
  std::string_view protocol, field;
  Selector selector;  // Raw: the place that follows
  ValueType type;
  std::uint16_t offset = 0, bits = 0;
};

using S = Selector;
using T = ValueType;

constexpr std::array kPayload = std::to_array<PayloadField>({
    {"ether", "daddr", S::EtherDaddr, T::Ether},
    {"ether", "saddr", S::EtherSaddr, T::Ether},
    {"ether", "type", S::EtherType, T::EtherType},
    {"vlan", "pcp", S::VlanPcp, T::Integer},
    {"vlan", "dei", S::VlanDei, T::Integer},
    {"vlan", "cfi", S::VlanDei, T::Integer},
    {"vlan", "id", S::VlanId, T::Integer},
    {"vlan", "type", S::VlanType, T::EtherType},
    {"arp", "operation", S::ArpOperation, T::ArpOperation},
    {"arp", "saddr ether", S::ArpSaddrEther, T::Ether},
    {"arp", "saddr ip", S::ArpSaddrIp, T::Ipv4},
    {"arp", "daddr ether", S::ArpDaddrEther, T::Ether},
    {"arp", "daddr ip", S::ArpDaddrIp, T::Ipv4},
    {"ip", "dscp", S::Ip4Dscp, T::Dscp},
    {"ip", "ecn", S::Ip4Ecn, T::Ecn},
    {"ip", "length", S::Ip4Length, T::Integer},
    {"ip", "id", S::Ip4Id, T::Integer},
    {"ip", "frag-off", S::Ip4FragOff, T::Integer},
    {"ip", "ttl", S::Ip4Ttl, T::Integer},
    {"ip", "protocol", S::Ip4Protocol, T::Protocol},
    {"ip", "saddr", S::Ip4Saddr, T::Ipv4},
    {"ip", "daddr", S::Ip4Daddr, T::Ipv4},
    {"ip6", "dscp", S::Ip6Dscp, T::Dscp},
    {"ip6", "ecn", S::Ip6Ecn, T::Ecn},
    {"ip6", "flowlabel", S::Ip6FlowLabel, T::Integer},
    {"ip6", "length", S::Ip6Length, T::Integer},
    {"ip6", "nexthdr", S::Ip6NextHeader, T::Protocol},
    {"ip6", "hoplimit", S::Ip6HopLimit, T::Integer},
    {"ip6", "saddr", S::Ip6Saddr, T::Ipv6},
    {"ip6", "daddr", S::Ip6Daddr, T::Ipv6},
    {"th", "sport", S::ThSport, T::Service},
    {"th", "dport", S::ThDport, T::Service},
    {"tcp", "sport", S::ThSport, T::Service},
    {"tcp", "dport", S::ThDport, T::Service},
    {"tcp", "flags", S::TcpFlags, T::TcpFlag},
    {"tcp", "sequence", S::Raw, T::Integer, 32, 32},
    {"tcp", "ackseq", S::Raw, T::Integer, 64, 32},
    {"tcp", "window", S::Raw, T::Integer, 112, 16},
    {"udp", "sport", S::ThSport, T::Service},
    {"udp", "dport", S::ThDport, T::Service},
    {"udp", "length", S::Raw, T::Integer, 32, 16},
    {"udplite", "sport", S::ThSport, T::Service},
    {"udplite", "dport", S::ThDport, T::Service},
    {"sctp", "sport", S::ThSport, T::Service},
    {"sctp", "dport", S::ThDport, T::Service},
    {"dccp", "sport", S::ThSport, T::Service},
    {"dccp", "dport", S::ThDport, T::Service},
    {"icmp", "type", S::IcmpType, T::IcmpType},
    {"icmp", "code", S::IcmpCode, T::IcmpCode},
    {"icmpv6", "type", S::IcmpType, T::Icmpv6Type},
    {"icmpv6", "code", S::IcmpCode, T::Icmpv6Code},
    {"igmp", "type", S::Raw, T::IgmpType, 0, 8},
    {"ah", "spi", S::Raw, T::Integer, 32, 32},
    {"esp", "spi", S::Raw, T::Integer, 0, 32},
});

struct RawField {
  Place place;
  Selector selector;
};
constexpr std::array kRaw = std::to_array<RawField>({
    {{Base::Transport, 0, 16}, S::ThSport},
    {{Base::Transport, 16, 16}, S::ThDport},
    {{Base::Transport, 64, 8}, S::BthOpcode},
    {{Base::Transport, 80, 16}, S::BthPkey},
    {{Base::Transport, 104, 24}, S::BthDestQp},
    {{Base::Transport, 232, 8}, S::MadClass},
    {{Base::Transport, 352, 16}, S::MadAttribute},
});

Readable<TypedOperand> read_raw(const Json& json) {
  const std::string_view base = json.text_of("base");
  const Json* offset = json.find("offset");
  const Json* length = json.find("len");
  if (offset == nullptr || length == nullptr || !offset->is_integer() || !length->is_integer() ||
      offset->integer > 0xffff || length->integer == 0 || length->integer > 128)
    return unreadable("raw payload: base, offset and len (1 to 128 bits) were expected");
  Place place{Base::Transport, static_cast<std::uint16_t>(offset->integer),
              static_cast<std::uint16_t>(length->integer)};
  if (base == "ll")
    place.base = Base::Link;
  else if (base == "nh")
    place.base = Base::Network;
  else if (base != "th")
    return unreadable("raw payload of `" + std::string(base) + "`: not modelled");
  TypedOperand read{{Selector::Raw, place, {}}, ValueType::Integer};
  for (const RawField& known : kRaw)
    if (known.place == place)
      read.operand.selector = known.selector;
  if (read.operand.selector != Selector::Raw)
    read.operand.place = {};
  return read;
}

Readable<TypedOperand> read_payload(const Json& json, Implied& implied,
                                    std::vector<Statement>& out) {
  const std::string_view protocol = json.text_of("protocol");
  if (protocol.empty())
    return read_raw(json);
  implied.protocol(protocol, out);
  const std::string_view field = json.text_of("field");
  for (const PayloadField& known : kPayload)
    if (known.protocol == protocol && known.field == field) {
      const Place place = known.selector == Selector::Raw
                              ? Place{Base::Transport, known.offset, known.bits}
                              : Place{};
      return TypedOperand{{known.selector, place, {}}, known.type};
    }
  return unreadable(std::string(protocol) + ' ' + std::string(field) + ": not modelled");
}

// ---- meta and conntrack

struct NamedField {
  std::string_view key;
  Selector selector;
  ValueType type;
};

// `iif` is an index for the kernel, and an interface's name in a listing: it is matched by name.
constexpr std::array kMeta = std::to_array<NamedField>({
    {"nfproto", S::MetaNfproto, T::NfProto},
    {"protocol", S::MetaProtocol, T::EtherType},
    {"l4proto", S::MetaL4proto, T::Protocol},
    {"mark", S::MetaMark, T::Mark},
    {"iif", S::MetaIifname, T::InterfaceIndex},
    {"oif", S::MetaOifname, T::InterfaceIndex},
    {"iifname", S::MetaIifname, T::InterfaceName},
    {"oifname", S::MetaOifname, T::InterfaceName},
    {"iifgroup", S::MetaIifgroup, T::InterfaceGroup},
    {"oifgroup", S::MetaOifgroup, T::InterfaceGroup},
    {"iiftype", S::MetaIiftype, T::InterfaceType},
    {"oiftype", S::MetaOiftype, T::InterfaceType},
    {"pkttype", S::MetaPkttype, T::PacketType},
    {"length", S::MetaLength, T::Integer},
    {"priority", S::MetaPriority, T::Integer},
    {"skuid", S::MetaSkuid, T::Integer},
    {"skgid", S::MetaSkgid, T::Integer},
    {"sdif", S::MetaSdifname, T::InterfaceIndex},
    {"sdifname", S::MetaSdifname, T::InterfaceName},
    {"nftrace", S::MetaNftrace, T::Integer},
});

constexpr std::array kConntrack = std::to_array<NamedField>({
    {"state", S::CtState, T::CtState},
    {"direction", S::CtDirection, T::CtDirection},
    {"status", S::CtStatus, T::CtStatus},
    {"mark", S::CtMark, T::Mark},
    {"zone", S::CtZone, T::Integer},
    {"l3proto", S::CtL3proto, T::NfProto},
    {"protocol", S::CtProtocol, T::Protocol},
    {"original ip saddr", S::CtOriginalSaddr4, T::Ipv4},
    {"original ip daddr", S::CtOriginalDaddr4, T::Ipv4},
    {"original ip6 saddr", S::CtOriginalSaddr6, T::Ipv6},
    {"original ip6 daddr", S::CtOriginalDaddr6, T::Ipv6},
    {"original proto-src", S::CtOriginalSport, T::Service},
    {"original proto-dst", S::CtOriginalDport, T::Service},
    {"reply ip saddr", S::CtReplySaddr4, T::Ipv4},
    {"reply ip daddr", S::CtReplyDaddr4, T::Ipv4},
    {"reply ip6 saddr", S::CtReplySaddr6, T::Ipv6},
    {"reply ip6 daddr", S::CtReplyDaddr6, T::Ipv6},
    {"reply proto-src", S::CtReplySport, T::Service},
    {"reply proto-dst", S::CtReplyDport, T::Service},
});

template <std::size_t N>
Readable<TypedOperand> find_named(const std::array<NamedField, N>& fields, std::string_view group,
                                  std::string_view key) {
  for (const NamedField& known : fields)
    if (known.key == key)
      return TypedOperand{{known.selector, {}, {}}, known.type};
  return unreadable(std::string(group) + ' ' + std::string(key) + ": not modelled");
}

Readable<TypedOperand> read_ct(const Json& json, TableFamily family) {
  std::string key(json.text_of("key"));
  const std::string_view direction = json.text_of("dir");
  if (!direction.empty()) {
    // In tables of one family `ct original saddr` has no word for the family.
    if (key == "saddr" || key == "daddr")
      key = (family == TableFamily::Ip6 ? "ip6 " : "ip ") + key;
    key = std::string(direction) + ' ' + key;
  }
  return find_named(kConntrack, "ct", key);
}

// ---- others

struct Header {
  std::string_view name;
  Selector selector;
};
constexpr std::array kHeaders = std::to_array<Header>({
    {"hbh", S::ExtHopByHop},
    {"rt", S::ExtRouting},
    {"frag", S::ExtFragment},
    {"dst", S::ExtDestination},
    {"mh", S::ExtMobility},
});

Readable<TypedOperand> read_extension(const Json& json, Implied& implied,
                                      std::vector<Statement>& out) {
  implied.protocol("ip6", out);
  const std::string_view name = json.text_of("name");
  const std::string_view field = json.text_of("field");
  if (field.empty()) {
    for (const Header& known : kHeaders)
      if (known.name == name)
        return TypedOperand{{known.selector, {}, {}}, ValueType::Boolean};
  } else if (name == "frag" && field == "frag-off") {
    return TypedOperand{{Selector::FragmentOffset, {}, {}}, ValueType::Integer};
  } else if (name == "frag" && field == "more-fragments") {
    return TypedOperand{{Selector::FragmentMore, {}, {}}, ValueType::Integer};
  }
  return unreadable("exthdr " + std::string(name) + ' ' + std::string(field) + ": not modelled");
}

Readable<TypedOperand> read_fib(const Json& json) {
  TypedOperand read{{Selector::FibType, {}, {}}, ValueType::FibType};
  const std::string_view result = json.text_of("result");
  if (result == "oif")
    read = {{Selector::FibOif, {}, {}}, ValueType::InterfaceIndex};
  else if (result == "oifname")
    read = {{Selector::FibOifname, {}, {}}, ValueType::InterfaceName};
  else if (result != "type")
    return unreadable("fib " + std::string(result) + ": not modelled");
  const Json* flags = json.find("flags");
  if (flags == nullptr || !flags->is_array())
    return unreadable("fib without flags: not modelled");
  FibQuery& query = read.operand.fib;
  for (const Json* flag = flags->first; flag != nullptr; flag = flag->next) {
    if (flag->text == "saddr")
      query.saddr = true;
    else if (flag->text == "daddr")
      query.daddr = true;
    else if (flag->text == "mark")
      query.mark = true;
    else if (flag->text == "iif")
      query.iif = true;
    else if (flag->text == "oif")
      query.oif = true;
    else
      return unreadable("fib flag " + std::string(flag->text) + ": not modelled");
  }
  if (query.saddr == query.daddr)
    return unreadable("fib of neither saddr nor daddr: not modelled");
  return read;
}

// (x & mask) ^ flip, and then one more constant.
void combine(Operand& operand, char operation, Value constant) {
  const Value all = greatest(bits(operand));
  operand.mask &= all;
  switch (operation) {
    case '&':
      operand.mask &= constant;
      operand.flip &= constant;
      break;
    case '|':
      operand.mask &= ~constant & all;
      operand.flip = (operand.flip & ~constant) | constant;
      break;
    default:
      operand.flip ^= constant;
  }
}

Readable<TypedOperand> read_bitwise(const Json& json, Implied& implied,
                                    std::vector<Statement>& out) {
  const Json* left = json.first;
  if (!json.is_array() || json.size != 2)
    return unreadable("a bitwise operation of two operands was expected");
  auto read = read_operand(*left, implied, out);
  if (!read)
    return read;
  const auto constant = read_value(*left->next, read->type, bits(read->operand));
  if (!constant)
    return unreadable("a bitwise operation of two fields: not modelled");
  combine(read->operand, json.name[0], *constant);
  return read;
}

}  // namespace

Operands untyped(const TypedKey& key) {
  Operands operands;
  operands.reserve(key.size());
  for (const TypedOperand& part : key)
    operands.push_back(part.operand);
  return operands;
}

void Implied::equals(Selector selector, Value value, std::vector<Statement>& out) {
  for (const Seen& seen : seen_)
    if (seen.selector == selector && seen.value == value)
      return;
  seen_.push_back({selector, value});
  Match match;
  match.key.push_back({selector, {}, {}});
  match.ranges.push_back({value, value});
  match.implied = true;
  out.emplace_back(std::move(match));
}

void Implied::network(Family family, std::vector<Statement>& out) {
  const bool v4 = family == Family::V4;
  switch (family_) {
    case TableFamily::Inet:
    case TableFamily::Bridge:
    case TableFamily::Netdev:
      // Behind a match of the link header nft asks that header for the family.
      if (vlan_ || ethernet_)
        equals(vlan_ ? Selector::VlanType : Selector::EtherType, v4 ? 0x0800 : 0x86dd, out);
      else if (family_ == TableFamily::Inet)
        equals(Selector::MetaNfproto, v4 ? 2 : 10, out);
      else
        equals(Selector::MetaProtocol, v4 ? 0x0800 : 0x86dd, out);
      return;
    default:
      return;  // every packet of the table is of its family
  }
}

void Implied::protocol(std::string_view name, std::vector<Statement>& out) {
  constexpr Value kEthernet = 1;
  if (name == "ether" || name == "vlan") {
    if (family_ != TableFamily::Bridge) {
      equals(Selector::MetaIiftype, kEthernet, out);
      ethernet_ = true;
    }
    if (name == "vlan") {
      equals(Selector::EtherType, 0x8100, out);
      vlan_ = true;
    }
  } else if (name == "ip") {
    network(Family::V4, out);
  } else if (name == "ip6") {
    network(Family::V6, out);
  } else if (name == "arp") {
    if (family_ != TableFamily::Arp)
      equals(Selector::MetaProtocol, 0x0806, out);
  } else if (name == "comp") {
    equals(Selector::MetaL4proto, 108, out);
  } else if (name != "th") {
    if (name == "icmp" || name == "igmp")
      network(Family::V4, out);
    else if (name == "icmpv6")
      network(Family::V6, out);
    if (const auto number = read_word(ValueType::Protocol, name))
      equals(Selector::MetaL4proto, *number, out);
  }
}

Readable<TypedOperand> read_operand(const Json& json, Implied& implied,
                                    std::vector<Statement>& out) {
  const Json* inner = json.is_object() ? json.first : nullptr;
  if (inner == nullptr || json.size != 1)
    return unreadable("a field of the packet was expected");
  const std::string_view name = inner->name;
  if (name == "payload")
    return read_payload(*inner, implied, out);
  if (name == "meta")
    return find_named(kMeta, "meta", inner->text_of("key"));
  if (name == "ct")
    return read_ct(*inner, implied.family());
  if (name == "exthdr")
    return read_extension(*inner, implied, out);
  if (name == "fib")
    return read_fib(*inner);
  if (name == "&" || name == "|" || name == "^")
    return read_bitwise(*inner, implied, out);
  if (name == "ip option")
    implied.protocol("ip", out);
  else if (name == "tcp option")
    implied.protocol("tcp", out);
  else if (name == "sctp chunk")
    implied.protocol("sctp", out);
  return unreadable(std::string(name) + ": not modelled");
}

Readable<TypedKey> read_key(const Json& json, Implied& implied, std::vector<Statement>& out) {
  TypedKey key;
  const Json* parts = json.find("concat");
  if (parts == nullptr) {
    auto read = read_operand(json, implied, out);
    if (!read)
      return unreadable(read.error().reason);
    key.push_back(std::move(*read));
    return key;
  }
  if (!parts->is_array() || parts->size == 0)
    return unreadable("a concatenation of fields was expected");
  for (const Json* part = parts->first; part != nullptr; part = part->next) {
    auto read = read_operand(*part, implied, out);
    if (!read)
      return unreadable(read.error().reason);
    key.push_back(std::move(*read));
  }
  return key;
}

}  // namespace bulkhead::compiler::proof
