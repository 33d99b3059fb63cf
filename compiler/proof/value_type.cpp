#include "compiler/proof/value_type.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

namespace bulkhead::compiler::proof {

namespace {

struct Word {
  std::string_view text;
  std::uint16_t value;
};

// From `nft describe` of 1.0.6 and Debian's /etc/protocols. Where two words have one value, the
// first is the one written.
// clang-format off
constexpr Word kProtocols[] = {{"icmpv6", 58}, {"ip", 0}, {"hopopt", 0}, {"icmp", 1}, {"igmp", 2},
    {"ggp", 3}, {"ipencap", 4}, {"st", 5}, {"tcp", 6}, {"egp", 8}, {"igp", 9}, {"pup", 12},
    {"udp", 17}, {"hmp", 20}, {"xns-idp", 22}, {"rdp", 27}, {"iso-tp4", 29}, {"dccp", 33}, {"xtp",
    36}, {"ddp", 37}, {"idpr-cmtp", 38}, {"ipv6", 41}, {"ipv6-route", 43}, {"ipv6-frag", 44},
    {"idrp", 45}, {"rsvp", 46}, {"gre", 47}, {"esp", 50}, {"ah", 51}, {"skip", 57}, {"ipv6-icmp",
    58}, {"ipv6-nonxt", 59}, {"ipv6-opts", 60}, {"rspf", 73}, {"vmtp", 81}, {"eigrp", 88},
    {"ospf", 89}, {"ax.25", 93}, {"ipip", 94}, {"etherip", 97}, {"encap", 98}, {"pim", 103},
    {"ipcomp", 108}, {"vrrp", 112}, {"l2tp", 115}, {"isis", 124}, {"sctp", 132}, {"fc", 133},
    {"mobility-header", 135}, {"udplite", 136}, {"mpls-in-ip", 137}, {"manet", 138}, {"hip", 139},
    {"shim6", 140}, {"wesp", 141}, {"rohc", 142}, {"ethernet", 143}};
constexpr Word kIcmpTypes[] = {{"echo-reply", 0}, {"destination-unreachable", 3},
    {"source-quench", 4}, {"redirect", 5}, {"echo-request", 8}, {"router-advertisement", 9},
    {"router-solicitation", 10}, {"time-exceeded", 11}, {"parameter-problem", 12},
    {"timestamp-request", 13}, {"timestamp-reply", 14}, {"info-request", 15}, {"info-reply", 16},
    {"address-mask-request", 17}, {"address-mask-reply", 18}};
constexpr Word kIcmpCodes[] = {{"net-unreachable", 0}, {"host-unreachable", 1},
    {"prot-unreachable", 2}, {"port-unreachable", 3}, {"net-prohibited", 9}, {"host-prohibited",
    10}, {"admin-prohibited", 13}, {"frag-needed", 4}};
constexpr Word kIcmpv6Types[] = {{"destination-unreachable", 1}, {"packet-too-big", 2},
    {"time-exceeded", 3}, {"parameter-problem", 4}, {"echo-request", 128}, {"echo-reply", 129},
    {"mld-listener-query", 130}, {"mld-listener-report", 131}, {"mld-listener-done", 132},
    {"mld-listener-reduction", 132}, {"nd-router-solicit", 133}, {"nd-router-advert", 134},
    {"nd-neighbor-solicit", 135}, {"nd-neighbor-advert", 136}, {"nd-redirect", 137},
    {"router-renumbering", 138}, {"ind-neighbor-solicit", 141}, {"ind-neighbor-advert", 142},
    {"mld2-listener-report", 143}};
constexpr Word kIcmpv6Codes[] = {{"no-route", 0}, {"admin-prohibited", 1}, {"addr-unreachable",
    3}, {"port-unreachable", 4}, {"policy-fail", 5}, {"reject-route", 6}};
constexpr Word kIgmpTypes[] = {{"membership-query", 17}, {"membership-report-v1", 18},
    {"membership-report-v2", 22}, {"membership-report-v3", 34}, {"leave-group", 23}};
constexpr Word kTcpFlags[] = {{"fin", 1}, {"syn", 2}, {"rst", 4}, {"psh", 8}, {"ack", 16}, {"urg",
    32}, {"ecn", 64}, {"cwr", 128}};
constexpr Word kCtStates[] = {{"invalid", 1}, {"new", 8}, {"established", 2}, {"related", 4},
    {"untracked", 64}};
constexpr Word kCtStatus[] = {{"expected", 1}, {"seen-reply", 2}, {"assured", 4}, {"confirmed",
    8}, {"snat", 16}, {"dnat", 32}, {"dying", 512}};
constexpr Word kCtDirections[] = {{"original", 0}, {"reply", 1}};
constexpr Word kPacketTypes[] = {{"host", 0}, {"unicast", 0}, {"broadcast", 1}, {"multicast", 2},
    {"other", 3}};
constexpr Word kNfProtos[] = {{"ipv4", 2}, {"ipv6", 10}};
constexpr Word kEtherTypes[] = {{"ip", 2048}, {"arp", 2054}, {"ip6", 34525}, {"8021q", 33024},
    {"8021ad", 34984}, {"vlan", 33024}};
constexpr Word kFibTypes[] = {{"unspec", 0}, {"unicast", 1}, {"local", 2}, {"broadcast", 3},
    {"anycast", 4}, {"multicast", 5}, {"blackhole", 6}, {"unreachable", 7}, {"prohibit", 8}};
constexpr Word kDscp[] = {{"cs0", 0}, {"cs1", 8}, {"cs2", 16}, {"cs3", 24}, {"cs4", 32}, {"cs5",
    40}, {"cs6", 48}, {"cs7", 56}, {"df", 0}, {"be", 0}, {"lephb", 1}, {"af11", 10}, {"af12", 12},
    {"af13", 14}, {"af21", 18}, {"af22", 20}, {"af23", 22}, {"af31", 26}, {"af32", 28}, {"af33",
    30}, {"af41", 34}, {"af42", 36}, {"af43", 38}, {"va", 44}, {"ef", 46}};
constexpr Word kEcn[] = {{"not-ect", 0}, {"ect1", 1}, {"ect0", 2}, {"ce", 3}};
constexpr Word kInterfaceTypes[] = {{"ether", 1}, {"ppp", 512}, {"ipip", 768}, {"ipip6", 769},
    {"loopback", 772}, {"sit", 776}, {"ipgre", 778}};
constexpr Word kArpOperations[] = {{"request", 1}, {"reply", 2}, {"rrequest", 3}, {"rreply", 4},
    {"inrequest", 8}, {"inreply", 9}, {"nak", 10}};
constexpr Word kGroups[] = {{"default", 0}};
constexpr Word kBooleans[] = {{"exists", 1}, {"missing", 0}};
// clang-format on

struct TypeInfo {
  std::string_view name;
  std::span<const Word> words;
};

// By ValueType.
constexpr std::array kTypes = std::to_array<TypeInfo>({
    {"integer", {}},
    {"ipv4_addr", {}},
    {"ipv6_addr", {}},
    {"ether_addr", {}},
    {"ether_type", kEtherTypes},
    {"inet_proto", kProtocols},
    {"inet_service", {}},
    {"icmp_type", kIcmpTypes},
    {"icmp_code", kIcmpCodes},
    {"icmpv6_type", kIcmpv6Types},
    {"icmpv6_code", kIcmpv6Codes},
    {"igmp_type", kIgmpTypes},
    {"tcp_flag", kTcpFlags},
    {"ct_state", kCtStates},
    {"ct_status", kCtStatus},
    {"ct_dir", kCtDirections},
    {"pkt_type", kPacketTypes},
    {"nf_proto", kNfProtos},
    {"fib_addrtype", kFibTypes},
    {"dscp", kDscp},
    {"ecn", kEcn},
    {"ifname", {}},
    {"iface_index", {}},
    {"devgroup", kGroups},
    {"iface_type", kInterfaceTypes},
    {"arp_op", kArpOperations},
    {"mark", {}},
    {"boolean", kBooleans},
    {"verdict", {}},
});
static_assert(kTypes.size() == static_cast<std::size_t>(ValueType::Verdict) + 1);

std::optional<Value> read_number(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x")) {
    base = 16;
    text.remove_prefix(2);
  }
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return number;
}

std::optional<Value> read_ether(std::string_view text) {
  if (text.size() != 17)
    return std::nullopt;
  Value value = 0;
  for (std::size_t i = 0; i < 17; i += 3) {
    unsigned byte = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + i + 2, byte, 16);
    if (error != std::errc() || end != text.data() + i + 2 || (i < 15 && text[i + 2] != ':'))
      return std::nullopt;
    value = value << 8 | byte;
  }
  return value;
}

std::string written_ether(Value value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (int shift = 40; shift >= 0; shift -= 8) {
    const auto byte = static_cast<unsigned>(value >> shift & 0xff);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
    if (shift != 0)
      text += ':';
  }
  return text;
}

}  // namespace

ValueType type_named(std::string_view name) {
  const auto found = std::find_if(kTypes.begin(), kTypes.end(),
                                  [&](const TypeInfo& type) { return type.name == name; });
  return found == kTypes.end() ? ValueType::Integer
                               : static_cast<ValueType>(found - kTypes.begin());
}

std::optional<Value> read_word(ValueType type, std::string_view word) {
  if (type == ValueType::Ipv4 || type == ValueType::Ipv6) {
    const auto address = Address::parse(word);
    const auto family = type == ValueType::Ipv4 ? Family::V4 : Family::V6;
    if (!address || address->family != family)
      return std::nullopt;
    return to_value(*address);
  }
  if (type == ValueType::Ether)
    return read_ether(word);
  if (type == ValueType::InterfaceName || type == ValueType::InterfaceIndex)
    return word.size() < 16 ? std::optional(interface_name(word)) : std::nullopt;
  for (const Word& known : kTypes[static_cast<std::size_t>(type)].words)
    if (known.text == word)
      return known.value;
  return read_number(word);
}

std::string written(ValueType type, Value value) {
  switch (type) {
    case ValueType::Ipv4:
      return to_address(Family::V4, value).str();
    case ValueType::Ipv6:
      return to_address(Family::V6, value).str();
    case ValueType::Ether:
      return written_ether(value);
    case ValueType::InterfaceName:
    case ValueType::InterfaceIndex:
      return '"' + name_of(value) + '"';
    default:
      break;
  }
  for (const Word& known : kTypes[static_cast<std::size_t>(type)].words)
    if (known.value == value)
      return std::string(known.text);
  return decimal(value);
}

}  // namespace bulkhead::compiler::proof
