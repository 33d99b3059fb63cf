#include "compiler/proof/example.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "compiler/proof/family_fields.h"
#include "compiler/proof/reading.h"
#include "compiler/representatives.h"
#include "policy/traffic.h"

namespace bulkhead::compiler::proof {

namespace {

constexpr Value kTcp = 6, kUdp = 17, kIcmp = 1, kIcmp6 = 58, kSctp = 132;

struct Liking {
  Field field;
  std::vector<Value> values;  // the first one that is possible
};
const std::vector<Liking>& likings() {
  static const std::vector<Liking> kLikings{
      {Field::InInterface, {interface_name("eth0"), interface_name("eth1")}},
      {Field::OutInterface, {interface_name("eth1"), interface_name("eth0")}},
      {Field::Protocol, {kTcp, kUdp, kIcmp, kIcmp6, kSctp}},
      {Field::Fragment, {0, kDontFragment}},
      {Field::HopLimit, {64, 255, 1}},
      {Field::SourcePort, {kClientPort, 0x0800, 0x8000}},  // a client's port, or an echo request
      {Field::CtState,
       {static_cast<Value>(CtState::New), static_cast<Value>(CtState::Established)}},
      {Field::CtDirection, {kOriginal, kReply}},
      {Field::QueuePair, {0x020000, 0x100000}},  // of TCP: SYN, ACK
  };
  return kLikings;
}

bool is_in(std::span<const ValueRange> ranges, Value value) {
  const auto behind =
      std::upper_bound(ranges.begin(), ranges.end(), value,
                       [](Value wanted, const ValueRange& range) { return wanted < range.first; });
  return behind != ranges.begin() && std::prev(behind)->contains(value);
}

// Type and code as a source port: echo requests, then what else a host would send.
constexpr Value kIcmp4Types[] = {0x0800, 0x0d00, 0x0000, 0x0303};
constexpr Value kIcmp6Types[] = {0x8000, 0x8100, 0x0104};

std::optional<Value> first_of(std::span<const Value> values, std::span<const ValueRange> ranges) {
  for (const Value value : values)
    if (is_in(ranges, value))
      return value;
  return std::nullopt;
}

Value liked(Field field, std::span<const ValueRange> ranges, const Familiar& familiar) {
  if (const auto known = familiar.find(field); known != familiar.end())
    for (const Value value : known->second)
      if (is_in(ranges, value))
        return value;
  for (const Liking& liking : likings())
    if (liking.field == field)
      for (const Value value : liking.values)
        if (is_in(ranges, value))
          return value;
  const bool is_seen = field == Field::Source4 || field == Field::Source6 ||
                       field == Field::Destination4 || field == Field::Destination6 ||
                       field == Field::DestinationPort || field == Field::InInterface ||
                       field == Field::OutInterface;
  return is_seen ? smallest(field, ranges) : ranges.front().first;
}

std::uint8_t state_bit(Value state) {
  switch (static_cast<CtState>(state)) {
    case CtState::New:
      return kCtNew;
    case CtState::Established:
      return kCtEstablished;
    case CtState::Related:
      return kCtRelated;
    case CtState::Invalid:
      return kCtInvalid;
    case CtState::Untracked:
      return kCtUntracked;
  }
  return kCtNew;
}

// The header of a RoCEv2 packet behind UDP: BTH, DETH, and the begin of a management datagram.
std::vector<std::uint8_t> roce_payload(const std::function<Value(Field, Value)>& of) {
  std::vector<std::uint8_t> bytes(12 + 8 + 24);
  bytes[0] = static_cast<std::uint8_t>(of(Field::BthOpcode, 0));
  bytes[2] = static_cast<std::uint8_t>(of(Field::BthPKey, 0xffff) >> 8);
  bytes[3] = static_cast<std::uint8_t>(of(Field::BthPKey, 0xffff));
  const Value pair = of(Field::QueuePair, 2);
  for (std::size_t i = 0; i < 3; ++i)
    bytes[5 + i] = static_cast<std::uint8_t>(pair >> (16 - 8 * i));
  bytes[21] = static_cast<std::uint8_t>(of(Field::ManagementClass, 7));
  const Value attribute = of(Field::ManagementAttribute, 0x10);
  bytes[36] = static_cast<std::uint8_t>(attribute >> 8);
  bytes[37] = static_cast<std::uint8_t>(attribute);
  return bytes;
}

// Some device of that name. Numbers that a rule asks for are not known by names, but none is 0.
Device device_of(Value name) {
  constexpr std::uint32_t kSomeNumber = 0x7fffffff;
  return {name_of(name), kSomeNumber};
}

Connection connection_of(const Example& example, bool reply, std::uint32_t status) {
  Connection connection;
  connection.reply = reply;
  connection.status = status;
  connection.protocol = example.facts.protocol;
  const Tuple here{to_value(example.facts.from), to_value(example.facts.to), example.facts.sport,
                   example.facts.dport};
  const Tuple back{here.daddr, here.saddr, here.dport, here.sport};
  connection.original = reply ? back : here;
  connection.answer = reply ? here : back;
  return connection;
}

}  // namespace

Familiar familiar(const Site& site, const EnforcerView& view) {
  Familiar out;
  for (const Leg& leg : site.inventory.enforcers.at(view.enforcer).legs) {
    out[Field::InInterface].push_back(interface_name(leg.interface));
    out[Field::OutInterface].push_back(interface_name(leg.interface));
  }
  std::vector<ProbeEnd> ends = Representatives(site, {}).ends();
  // Hosts before an enforcer's own addresses, and who can send before who cannot.
  std::stable_sort(ends.begin(), ends.end(), [&](const ProbeEnd& a, const ProbeEnd& b) {
    const auto rank = [&](const ProbeEnd& end) {
      return (end.agentless ? 2 : 0) + (end.cls == view.self ? 1 : 0);
    };
    return rank(a) < rank(b);
  });
  for (const ProbeEnd& end : ends)
    out[source(end.address.family)].push_back(to_value(end.address));
  std::reverse(ends.begin(), ends.end());
  std::stable_sort(ends.begin(), ends.end(), [&](const ProbeEnd& a, const ProbeEnd& b) {
    return (a.cls == view.self) < (b.cls == view.self);
  });
  for (const ProbeEnd& end : ends)
    out[destination(end.address.family)].push_back(to_value(end.address));
  return out;
}

std::optional<Example> example_of(const Diagrams& space, Diagram set, const Familiar& familiar) {
  bool is_icmp = false, is_v6 = false;  // of the fields that were chosen before
  const auto some = sample(space, set, [&](Field field, std::span<const ValueRange> ranges) {
    if (is_icmp && field == Field::SourcePort)
      return first_of(is_v6 ? std::span<const Value>(kIcmp6Types) : kIcmp4Types, ranges)
          .value_or(liked(field, ranges, familiar));
    Value value = liked(field, ranges, familiar);
    // ICMP of the other family is possible, and nobody's idea of a packet.
    if (field == Field::Protocol && is_v6 && value == kIcmp && is_in(ranges, kIcmp6))
      value = kIcmp6;
    is_icmp |= field == Field::Protocol && (value == kIcmp || value == kIcmp6);
    is_v6 |= field == Field::Family && value == kIpv6;
    return value;
  });
  if (!some)
    return std::nullopt;
  const std::function<Value(Field, Value)> of = [&](Field field, Value otherwise) {
    return (*some)[static_cast<std::size_t>(field)].value_or(otherwise);
  };
  Example out;
  const Family family = of(Field::Family, kIpv4) == kIpv6 ? Family::V6 : Family::V4;
  const bool v4 = family == Family::V4;
  PacketFacts& facts = out.facts;
  facts.from =
      to_address(family, of(source(family), v4 ? 0xc0000201 : Value{0x20010db8} << 96 | 1));
  facts.to =
      to_address(family, of(destination(family), v4 ? 0xc0000202 : Value{0x20010db8} << 96 | 2));
  facts.protocol = static_cast<std::uint8_t>(of(Field::Protocol, kTcp));
  const bool is_query = facts.protocol == (v4 ? kIcmp : kIcmp6);
  const Value sport =
      of(Field::SourcePort, is_query ? (v4 ? kIcmp4Types : kIcmp6Types)[0] : kClientPort);
  facts.sport = static_cast<std::uint16_t>(sport);
  // Where a protocol has no ports, the bytes of a probe in their place hold its number.
  const bool has_ports = facts.protocol == kTcp || facts.protocol == kUdp || is_query;
  facts.dport =
      static_cast<std::uint16_t>(of(Field::DestinationPort, has_ports ? 1 : facts.protocol));
  facts.icmp_type = static_cast<std::uint8_t>(sport >> 8);
  facts.icmp_code = static_cast<std::uint8_t>(sport);
  facts.tcp_flags = static_cast<std::uint8_t>(of(Field::QueuePair, 0x020000) >> 16);
  facts.hop_limit = static_cast<std::uint8_t>(of(Field::HopLimit, 64));
  facts.dscp = static_cast<std::uint8_t>(of(Field::Dscp, 0));
  const Value fragment = of(Field::Fragment, 0);
  // A fragment header may be there though nothing was cut (RFC 6946).
  if ((fragment & (kFragmentOffset | kMoreFragments)) != 0 || of(Field::FragmentHeader, 0) == 1)
    facts.fragment = Fragment{static_cast<std::uint16_t>(fragment & kFragmentOffset),
                              (fragment & kMoreFragments) != 0};
  if (facts.protocol == kUdp && facts.dport == policy::kRocePort)
    facts.payload = roce_payload(of);

  out.packet.ethertype = v4 ? kEtherIp : kEtherIp6;
  out.packet.bytes = bytes_of(facts);
  if (const Value in = of(Field::InInterface, 0); in != 0)
    out.packet.in = device_of(in);
  if (const Value to = of(Field::OutInterface, 0); to != 0)
    out.packet.out = device_of(to);
  if (const Value port = of(Field::InPort, 0); port != 0)
    out.packet.port = device_of(port);
  out.in = out.packet.in ? out.packet.in->name : "";
  out.out = out.packet.out ? out.packet.out->name : "";
  out.packet.mark = static_cast<std::uint32_t>(of(Field::Mark, 0));
  out.packet.ct_state = state_bit(of(Field::CtState, static_cast<Value>(CtState::New)));
  if (out.packet.ct_state != kCtInvalid && out.packet.ct_state != kCtUntracked) {
    const bool is_reply = of(Field::CtDirection, kOriginal) == kReply;
    const Value status = of(Field::CtStatus, out.packet.ct_state == kCtNew ? 0 : kStatusConfirmed);
    out.packet.connection = connection_of(out, is_reply, static_cast<std::uint32_t>(status));
  }
  out.is_exact = space.at(set, values_of(out.packet)) == 1;
  return out;
}

std::string to_string(const Example& example) {
  const PacketFacts& facts = example.facts;
  const auto address = [](const Address& a) {
    return a.family == Family::V6 ? "[" + a.str() + "]" : a.str();
  };
  std::string out;
  switch (facts.protocol) {
    case kTcp:
    case kUdp:
    case kSctp:
      out = fmt::format("{} {}:{} -> {}:{}",
                        facts.protocol == kTcp   ? "tcp"
                        : facts.protocol == kUdp ? "udp"
                                                 : "sctp",
                        address(facts.from), facts.sport, address(facts.to), facts.dport);
      break;
    case kIcmp:
    case kIcmp6:
      out = fmt::format("{} type {} code {} {} -> {}", facts.protocol == kIcmp ? "icmp" : "icmpv6",
                        facts.icmp_type, facts.icmp_code, facts.from.str(), facts.to.str());
      break;
    default:
      out = fmt::format("protocol {} {} -> {}", facts.protocol, facts.from.str(), facts.to.str());
  }
  if (facts.fragment && facts.fragment->offset != 0)
    out += ", a later fragment";
  switch (example.packet.ct_state) {
    case kCtEstablished:
      out += example.packet.connection && example.packet.connection->reply
                 ? ", a reply of an established connection"
                 : ", of an established connection";
      break;
    case kCtRelated:
      out += ", related to a connection";
      break;
    case kCtInvalid:
      out += ", invalid for conntrack";
      break;
    case kCtUntracked:
      out += ", untracked";
      break;
    default:
      break;
  }
  if (!example.in.empty())
    out += ", in by " + example.in;
  if (!example.out.empty())
    out += ", out by " + example.out;
  return out;
}

}  // namespace bulkhead::compiler::proof
