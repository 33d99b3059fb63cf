#include "compiler/proof/naming.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/proof/family_fields.h"

namespace bulkhead::compiler::proof {

namespace {

constexpr std::size_t kMostItems = 6;

const std::vector<ValueRange>* of(const Box& box, Field field) {
  for (const auto& [known, ranges] : box.fields)
    if (known == field)
      return &ranges;
  return nullptr;
}

bool is_only(const std::vector<ValueRange>* ranges, Value value) {
  return ranges != nullptr && ranges->size() == 1 && ranges->front() == ValueRange{value, value};
}

std::string join(const std::vector<std::string>& items) {
  std::string out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i == kMostItems && items.size() > kMostItems + 1)
      return out + fmt::format(" and {} more", items.size() - i);
    out += (i == 0 ? "" : ", ") + items[i];
  }
  return out;
}

template <class Show>
std::string list(const std::vector<ValueRange>& ranges, Show show) {
  std::vector<std::string> items;
  for (const ValueRange& range : ranges)
    items.push_back(range.first == range.last
                        ? std::string(show(range.first))
                        : std::string(show(range.first)) + "-" + std::string(show(range.last)));
  return join(items);
}

std::string numbers(const std::vector<ValueRange>& ranges) {
  return list(ranges, [](Value value) { return decimal(value); });
}

// A prefix where the range is one.
std::string text(const AddressRange& range) {
  if (range.first == range.last)
    return range.first.str();
  for (int length = 0; length <= bits(range.first.family); ++length) {
    const Prefix prefix{range.first, static_cast<std::uint8_t>(length)};
    if (prefix.last() == range.last &&
        Prefix::parse(prefix.str()).has_value())  // without host bits
      return prefix.str();
  }
  return range.first.str() + "-" + range.last.str();
}

AddressSet to_addresses(const std::vector<ValueRange>& ranges, Family family) {
  std::vector<AddressRange> out;
  for (const ValueRange& range : ranges)
    out.push_back({to_address(family, range.first), to_address(family, range.last)});
  return AddressSet::from(std::move(out));
}

std::string interfaces(const std::vector<ValueRange>* ranges, std::string_view by) {
  if (ranges == nullptr)
    return "";
  std::vector<std::string> names;
  for (const ValueRange& range : *ranges) {
    if (range.first != range.last)
      return ranges->front().first <= 1 && ranges->back().last == max_of(Field::InInterface)
                 ? ""  // any
                 : fmt::format("{} some interface that the policy does not know", by);
    if (range.first != 0)
      names.push_back(name_of(range.first));
  }
  return names.empty() ? "" : fmt::format("{} {}", by, join(names));
}

constexpr std::string_view kStates[] = {"new", "established", "related", "invalid", "untracked"};

std::string state(const Box& box) {
  const auto* states = of(box, Field::CtState);
  const auto* direction = of(box, Field::CtDirection);
  std::string way = is_only(direction, kReply) ? "replies" : "";
  if (is_only(direction, kOriginal))
    way = "not replies";
  if (states == nullptr)
    return way;
  std::vector<std::string> names;
  for (const ValueRange& range : *states)
    for (Value value = range.first; value <= range.last && value < std::size(kStates); ++value)
      names.emplace_back(kStates[static_cast<std::size_t>(value)]);
  if (names == std::vector<std::string>{"new"})
    return "new connections";
  if (names == std::vector<std::string>{"established"} && is_only(direction, kReply))
    return "replies";
  std::string out = "ct state " + join(names);
  return way.empty() ? out : out + ", " + way;
}

struct Protocol {
  Value number;
  std::string_view name;
  policy::Kind kind;
};
constexpr Protocol kPortProtocols[] = {{6, "tcp", policy::Kind::Tcp},
                                       {17, "udp", policy::Kind::Udp},
                                       {132, "sctp", policy::Kind::Sctp}};

constexpr Field kNamedElsewhere[] = {
    Field::InInterface, Field::InPort,     Field::OutInterface,    Field::Family,
    Field::Source4,     Field::Source6,    Field::Destination4,    Field::Destination6,
    Field::Protocol,    Field::SourcePort, Field::DestinationPort, Field::CtState,
    Field::CtDirection, Field::Fragment};

}  // namespace

std::vector<Family> families(const Box& box) {
  const auto* ranges = of(box, Field::Family);
  std::vector<Family> out;
  for (const Family family : kFamilies) {
    const Value value = family == Family::V4 ? kIpv4 : kIpv6;
    const bool is_in = ranges == nullptr ||
                       std::any_of(ranges->begin(), ranges->end(),
                                   [&](const ValueRange& range) { return range.contains(value); });
    if (is_in)
      out.push_back(family);
  }
  return out;
}

std::string Naming::addresses(const std::vector<ValueRange>* ranges, Family family) const {
  if (ranges == nullptr)
    return "anywhere";
  AddressSet left = to_addresses(*ranges, family);
  std::vector<std::string> names;
  if (site_ != nullptr)
    for (const policy::Class& cls : site_->matrix.universe.classes) {
      const AddressSet held = of_family(cls.addresses, family);
      if (held.empty() || !left.contains(held))
        continue;
      names.push_back(cls.name);
      left = left - held;
    }
  for (const AddressRange& range : left) {
    const AddressSet here{range};
    std::string owners;
    if (site_ != nullptr)
      for (const policy::Class& cls : site_->matrix.universe.classes)
        if (cls.addresses.overlaps(here))
          owners += (owners.empty() ? "" : ", ") + cls.name;
    names.push_back(text(range) + (site_ == nullptr ? ""
                                   : owners.empty() ? " (nobody's)"
                                                    : " (" + owners + ")"));
  }
  return join(names);
}

std::string Naming::service(policy::Kind kind, const std::vector<ValueRange>& ports) const {
  if (site_ == nullptr)
    return "";
  std::vector<PortRange> wanted;
  for (const ValueRange& range : ports)
    wanted.push_back(
        {static_cast<std::uint16_t>(range.first), static_cast<std::uint16_t>(range.last)});
  const PortSet set = PortSet::from(std::move(wanted));
  for (const policy::Service& service : site_->matrix.services)
    if (service.terms.size() == 1 && service.terms.front().key.kind == kind &&
        service.terms.front().ports == set)
      return service.name;
  return "";
}

std::string Naming::traffic(const Box& box, Family family) const {
  const auto* protocols = of(box, Field::Protocol);
  const auto* to = of(box, Field::DestinationPort);
  const auto* from = of(box, Field::SourcePort);
  std::string out = protocols == nullptr ? "anything" : "protocol " + numbers(*protocols);
  if (is_only(protocols, family == Family::V4 ? 1 : 58)) {
    out = family == Family::V4 ? "icmp" : "icmpv6";
    if (from != nullptr)
      out += " type " + list(*from, [](Value value) { return decimal(value >> 8); });
    from = nullptr;
  }
  for (const Protocol& protocol : kPortProtocols) {
    if (!is_only(protocols, protocol.number))
      continue;
    out = protocol.name;
    if (to == nullptr)
      continue;
    out += " " + numbers(*to);
    if (const std::string name = service(protocol.kind, *to); !name.empty())
      out = name + " (" + out + ")";
    to = nullptr;
  }
  if (to != nullptr)
    out += " to port " + numbers(*to);
  if (from != nullptr)
    out += " from port " + numbers(*from);
  return out;
}

NamedBox Naming::name(const Box& box, Family family) const {
  NamedBox out;
  out.from = addresses(of(box, source(family)), family);
  out.to = addresses(of(box, destination(family)), family);
  out.traffic = traffic(box, family);
  out.state = state(box);
  out.interfaces = interfaces(of(box, Field::InInterface), "in by");
  const std::string leaving = interfaces(of(box, Field::OutInterface), "out by");
  if (!leaving.empty())
    out.interfaces += (out.interfaces.empty() ? "" : ", ") + leaving;
  for (const auto& [field, ranges] : box.fields) {
    if (std::find(std::begin(kNamedElsewhere), std::end(kNamedElsewhere), field) !=
        std::end(kNamedElsewhere))
      continue;
    out.others +=
        (out.others.empty() ? "" : ", ") + std::string(info(field).name) + " " + numbers(ranges);
  }
  return out;
}

}  // namespace bulkhead::compiler::proof
