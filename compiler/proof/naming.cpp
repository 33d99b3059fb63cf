#include "compiler/proof/naming.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compiler/proof/family_fields.h"
#include "compiler/proof/naming_words.h"

namespace bulkhead::compiler::proof {

namespace {

bool is_only(const std::vector<ValueRange>* ranges, Value value) {
  return ranges != nullptr && ranges->size() == 1 && ranges->front() == ValueRange{value, value};
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

constexpr std::string_view kStates[] = {"new", "established", "related", "invalid", "untracked"};

std::string state(const Box& box) {
  const auto* states = ranges_of(box, Field::CtState);
  const auto* direction = ranges_of(box, Field::CtDirection);
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
  std::string out = "ct state " + listed(names);
  return way.empty() ? out : out + ", " + way;
}

// "eth0", "eth*"; nothing of a range that no pattern of nft makes.
std::optional<std::string> pattern(const ValueRange& range) {
  const std::string name = name_of(range.first);
  if (range.first == range.last)
    return name;
  return name_prefix(name) == range ? std::optional(name + '*') : std::nullopt;
}

// Interfaces where nobody says which there are: as patterns, or as all but some of them.
std::string patterns(const std::vector<ValueRange>& ranges, std::string_view by) {
  std::vector<std::string> names;
  const bool is_rest =
      ranges.front().first <= 1 && ranges.back().last == max_of(Field::InInterface);
  for (std::size_t i = is_rest ? 1 : 0; i < ranges.size(); ++i) {
    const auto name =
        pattern(is_rest ? ValueRange{ranges[i - 1].last + 1, ranges[i].first - 1} : ranges[i]);
    if (!name)
      return is_rest ? "" : fmt::format("{} some interfaces", by);
    if (!is_rest || *name != "lo")
      names.push_back(*name);
  }
  if (names.empty())
    return "";
  return fmt::format("{}{} {}", by, is_rest ? " any but" : "", listed(names));
}

constexpr Field kNamedElsewhere[] = {
    Field::InInterface, Field::InPort,     Field::OutInterface,    Field::Family,
    Field::Source4,     Field::Source6,    Field::Destination4,    Field::Destination6,
    Field::Protocol,    Field::SourcePort, Field::DestinationPort, Field::CtState,
    Field::CtDirection, Field::NextHeader, Field::Fragment};

// Extension headers that the kernel walks over to find the protocol (kernel 6.18: ipv6_ext_hdr).
constexpr Value kExtensions[] = {0, 43, 44, 51, 60};

// `ip6 nexthdr` is the first header, the protocol itself or an extension: only where one is wanted
// or not wanted is there something to say.
std::string next_header(const std::vector<ValueRange>& ranges) {
  const auto holds = [&](Value value) {
    return std::any_of(ranges.begin(), ranges.end(),
                       [&](const ValueRange& range) { return range.contains(value); });
  };
  const auto extensions = std::count_if(std::begin(kExtensions), std::end(kExtensions), holds);
  Value all = 0;
  for (const ValueRange& range : ranges)
    all += range.last - range.first + 1;
  if (extensions == 0)
    return "without extension headers";
  if (all == static_cast<Value>(extensions) || !holds(58))
    return "behind an IPv6 extension header";
  return "ip6 nexthdr " + numbers(ranges);
}

}  // namespace

const std::vector<ValueRange>* ranges_of(const Box& box, Field field) {
  for (const auto& [known, ranges] : box.fields)
    if (known == field)
      return &ranges;
  return nullptr;
}

std::vector<Family> families(const Box& box) {
  const auto* ranges = ranges_of(box, Field::Family);
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

// Whole classes first, then what segments hold beside their hosts, then pieces of classes, then
// what is nobody's: a range that an address of two classes lies in is split between them.
std::string Naming::addresses(const std::vector<ValueRange>* ranges, Family family) const {
  if (ranges == nullptr)
    return "anywhere";
  AddressSet left = to_addresses(*ranges, family);
  std::vector<std::string> names;
  if (site_ == nullptr) {
    for (const AddressRange& range : left)
      names.push_back(text(range));
    return listed(names);
  }
  const auto& classes = site_->matrix.universe.classes;
  std::vector<AddressRange> everybody;
  std::size_t present = 0;
  std::vector<std::string> absent, pieces;
  for (const policy::Class& cls : classes) {
    const AddressSet held = of_family(cls.addresses, family);
    if (held.empty())
      continue;
    everybody.insert(everybody.end(), held.begin(), held.end());
    if (left.contains(held)) {
      names.push_back(cls.name);
      ++present;
      continue;
    }
    absent.push_back(cls.name);
    const AddressSet part = left & held;
    if (part.size() > 2)
      pieces.push_back("part of " + cls.name);
    else
      for (const AddressRange& range : part)
        pieces.push_back(text(range) + " (" + cls.name + ")");
  }
  const AddressSet held = AddressSet::from(std::move(everybody));
  if (absent.size() < 4 && pieces.empty() && present > absent.size() + 3)
    names = {absent.empty() ? "every class" : "every class but " + listed(absent)};
  names.insert(names.end(), pieces.begin(), pieces.end());
  left = left - held;
  for (const auto& [name, segment] : site_->policy.segments) {
    AddressSet unused;
    for (const Prefix& prefix : segment.prefixes)
      if (prefix.family() == family)
        unused.add(prefix.range());
    unused = unused - held;
    if (unused.empty() || !left.contains(unused))
      continue;
    names.push_back("unused addresses of " + name);
    left = left - unused;
  }
  if (left.size() > 3)
    names.emplace_back("others that are nobody's");
  else
    for (const AddressRange& range : left)
      names.push_back(text(range) + " (nobody's)");
  return listed(names);
}

std::string Naming::interfaces(const std::vector<ValueRange>* ranges, std::string_view by) const {
  if (ranges == nullptr)
    return "";
  std::vector<std::string> names;
  bool others = false;
  for (const ValueRange& range : *ranges) {
    if (range.first != range.last)
      others = true;
    else if (range.first != 0)
      names.push_back(name_of(range.first));
  }
  if (others) {
    if (view_ == nullptr || site_ == nullptr)
      return patterns(*ranges, by);
    std::vector<std::string> legs;
    bool any = false;
    for (const Leg& leg : site_->inventory.enforcers.at(view_->enforcer).legs) {
      const Value name = interface_name(leg.interface);
      const bool in = std::any_of(ranges->begin(), ranges->end(),
                                  [&](const ValueRange& range) { return range.contains(name); });
      any |= in;
      if (!in)
        legs.push_back(leg.interface);
    }
    if (!any)
      return fmt::format("{} an interface that is no leg of {}", by, view_->enforcer);
    return legs.empty() ? "" : fmt::format("{} any but {}", by, listed(legs));
  }
  return names.empty() ? "" : fmt::format("{} {}", by, listed(names));
}

NamedBox Naming::name(const Box& box, Family family) const {
  NamedBox out;
  out.from = addresses(ranges_of(box, source(family)), family);
  out.to = addresses(ranges_of(box, destination(family)), family);
  out.traffic = traffic_words(box, family, site_ == nullptr ? nullptr : &site_->matrix);
  out.state = state(box);
  out.interfaces = interfaces(ranges_of(box, Field::InInterface), "in by");
  const std::string leaving = interfaces(ranges_of(box, Field::OutInterface), "out by");
  if (!leaving.empty())
    out.interfaces += (out.interfaces.empty() ? "" : ", ") + leaving;
  const auto add = [&](const std::string& words) {
    out.others += (out.others.empty() ? "" : ", ") + words;
  };
  if (const auto* first = ranges_of(box, Field::NextHeader))
    add(next_header(*first));
  if (const auto* fragment = ranges_of(box, Field::Fragment);
      fragment && fragment->front().first > 0)
    add("fragments");
  for (const auto& [field, ranges] : box.fields)
    if (std::find(std::begin(kNamedElsewhere), std::end(kNamedElsewhere), field) ==
        std::end(kNamedElsewhere))
      add(std::string(info(field).name) + " " + numbers(ranges));
  return out;
}

}  // namespace bulkhead::compiler::proof
