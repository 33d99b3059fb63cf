#include "compiler/proof/naming_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "compiler/proof/family_fields.h"
#include "compiler/proof/naming.h"

namespace bulkhead::compiler::proof {

namespace {

constexpr std::size_t kMostItems = 6;
constexpr Value kIcmp = 1, kIcmp6 = 58;
constexpr Value kMostPorts = 65535, kMostProtocols = 255;

struct Named {
  Value number;
  std::string_view name;
};
// IANA protocol numbers that a firewall's rules name.
constexpr Named kProtocols[] = {{1, "icmp"},   {2, "igmp"},    {4, "ipip"},  {6, "tcp"},
                                {17, "udp"},   {41, "6in4"},   {47, "gre"},  {50, "esp"},
                                {51, "ah"},    {58, "icmpv6"}, {89, "ospf"}, {103, "pim"},
                                {112, "vrrp"}, {132, "sctp"}};
// As nft writes them.
constexpr Named kIcmpTypes[] = {{0, "echo-reply"},           {3, "destination-unreachable"},
                                {4, "source-quench"},        {5, "redirect"},
                                {8, "echo-request"},         {9, "router-advertisement"},
                                {10, "router-solicitation"}, {11, "time-exceeded"},
                                {12, "parameter-problem"},   {13, "timestamp-request"},
                                {14, "timestamp-reply"},     {17, "address-mask-request"},
                                {18, "address-mask-reply"}};
constexpr Named kIcmp6Types[] = {
    {1, "destination-unreachable"}, {2, "packet-too-big"},        {3, "time-exceeded"},
    {4, "parameter-problem"},       {128, "echo-request"},        {129, "echo-reply"},
    {130, "mld-listener-query"},    {131, "mld-listener-report"}, {132, "mld-listener-done"},
    {133, "nd-router-solicit"},     {134, "nd-router-advert"},    {135, "nd-neighbor-solicit"},
    {136, "nd-neighbor-advert"},    {137, "nd-redirect"},         {143, "mld2-listener-report"}};

template <std::size_t N>
std::string name_in(const Named (&names)[N], Value number) {
  for (const Named& named : names)
    if (named.number == number)
      return std::string(named.name);
  return decimal(number);
}

// Each number of a short range by its name, a longer one by its ends.
template <std::size_t N>
std::vector<std::string> names_of(const Named (&names)[N], const std::vector<ValueRange>& ranges) {
  std::vector<std::string> out;
  for (const ValueRange& range : ranges) {
    if (range.last - range.first > 3) {
      out.push_back(name_in(names, range.first) + " to " + name_in(names, range.last));
      continue;
    }
    for (Value number = range.first; number <= range.last; ++number)
      out.push_back(name_in(names, number));
  }
  return out;
}

std::string and_list(const std::vector<std::string>& items) {
  if (items.size() < 2 || items.size() > kMostItems)
    return listed(items);
  std::string out = items.front();
  for (std::size_t i = 1; i < items.size(); ++i)
    out += (i + 1 == items.size() ? " and " : ", ") + items[i];
  return out;
}

bool is_shorter(const std::vector<ValueRange>& rest, const std::vector<ValueRange>& ranges) {
  return !rest.empty() && ranges.size() > 1 && rest.size() <= ranges.size() &&
         rest.back().last - rest.front().first < ranges.back().last - ranges.front().first;
}

std::string protocol_words(const std::vector<ValueRange>& ranges) {
  const auto rest = but(ranges, kMostProtocols);
  if (is_shorter(rest, ranges) || (rest.size() == 1 && rest[0].last - rest[0].first < 4))
    return "everything but " + and_list(names_of(kProtocols, rest));
  const auto names = names_of(kProtocols, ranges);
  const bool is_number =
      ranges.front().first == ranges.back().last && names.front() == decimal(ranges.front().first);
  return (is_number ? "protocol " : "") + listed(names);
}

std::string icmp_words(const std::vector<ValueRange>* types, Family family) {
  const std::string name = family == Family::V4 ? "icmp" : "icmpv6";
  if (types == nullptr)
    return name;
  std::vector<ValueRange> whole;
  for (const ValueRange& range : *types) {
    if ((range.first & 0xff) != 0 || (range.last & 0xff) != 0xff)
      return name + " type and code " + numbers(*types);
    whole.push_back({range.first >> 8, range.last >> 8});
  }
  const auto words = [&](const std::vector<ValueRange>& ranges) {
    return family == Family::V4 ? names_of(kIcmpTypes, ranges) : names_of(kIcmp6Types, ranges);
  };
  const auto rest = but(whole, 255);
  if (words(rest).size() < words(whole).size() ||
      (rest.size() == 1 && rest[0].last - rest[0].first < 4))
    return name + " but " + and_list(words(rest));
  return name + " " + listed(words(whole));
}

std::string port_words(const std::vector<ValueRange>& ports) {
  const auto rest = but(ports, kMostPorts);
  if (!rest.empty() && rest.size() < ports.size())
    return "but " + numbers(rest);
  return numbers(ports);
}

std::optional<policy::Kind> kind_of(Value protocol) {
  switch (static_cast<std::uint8_t>(protocol)) {
    case 6:
      return policy::Kind::Tcp;
    case 17:
      return policy::Kind::Udp;
    case 132:
      return policy::Kind::Sctp;
    default:
      return std::nullopt;
  }
}

std::string service_of(const policy::Matrix* matrix, Value protocol,
                       const std::vector<ValueRange>& ports) {
  const auto kind = kind_of(protocol);
  if (matrix == nullptr || !kind)
    return "";
  std::vector<PortRange> wanted;
  for (const ValueRange& range : ports)
    wanted.push_back(
        {static_cast<std::uint16_t>(range.first), static_cast<std::uint16_t>(range.last)});
  const PortSet set = PortSet::from(std::move(wanted));
  // A service that is just this, else one that has it beside another transport.
  for (const bool alone : {true, false})
    for (const policy::Service& service : matrix->services)
      for (const policy::Traffic& term : service.terms)
        if (term.key.kind == *kind && term.ports == set && (!alone || service.terms.size() == 1))
          return service.name;
  return "";
}

}  // namespace

std::string listed(const std::vector<std::string>& items) {
  std::string out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i == kMostItems && items.size() > kMostItems + 1)
      return out + fmt::format(" and {} more", items.size() - i);
    out += (i == 0 ? "" : ", ") + items[i];
  }
  return out;
}

std::string numbers(const std::vector<ValueRange>& ranges) {
  std::vector<std::string> items;
  for (const ValueRange& range : ranges)
    items.push_back(range.first == range.last ? decimal(range.first)
                                              : decimal(range.first) + "-" + decimal(range.last));
  return listed(items);
}

std::vector<ValueRange> but(const std::vector<ValueRange>& ranges, Value max) {
  std::vector<ValueRange> out;
  Value next = 0;
  for (const ValueRange& range : ranges) {
    if (range.first > next)
      out.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (ranges.empty() || ranges.back().last < max)
    out.push_back({next, max});
  return out;
}

std::string traffic_words(const Box& box, Family family, const policy::Matrix* matrix) {
  const auto* protocols = ranges_of(box, Field::Protocol);
  const auto* to = ranges_of(box, Field::DestinationPort);
  const auto* from = ranges_of(box, Field::SourcePort);
  std::string out = protocols == nullptr ? "anything" : protocol_words(*protocols);
  const bool single = protocols != nullptr && protocols->front().first == protocols->back().last;
  const Value protocol = single ? protocols->front().first : 0;
  if (single && protocol == (family == Family::V4 ? kIcmp : kIcmp6))
    return icmp_words(from, family);
  if (single && to != nullptr && kind_of(protocol)) {
    out += " " + port_words(*to);
    if (const std::string name = service_of(matrix, protocol, *to); !name.empty())
      out = fmt::format("{} ({})", name, out);
  } else if (to != nullptr) {
    out += " to port " + port_words(*to);
  }
  if (from != nullptr)
    out += " from port " + port_words(*from);
  return out;
}

}  // namespace bulkhead::compiler::proof
