#include "compiler/proof/listed_values.h"

#include <algorithm>

namespace bulkhead::compiler::proof {

namespace {

bool is_interface(ValueType type) {
  return type == ValueType::InterfaceName || type == ValueType::InterfaceIndex;
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// 128-bit numbers do not fit JSON's integers as readers know them.
Readable<Value> fitting(Value value, unsigned bits) {
  if (bits != 0 && value > greatest(bits))
    return unreadable(decimal(value) + " does not fit " + std::to_string(bits) + " bits");
  return value;
}

Readable<Value> read_text(std::string_view text, ValueType type, unsigned bits) {
  if (type == ValueType::InterfaceIndex && text == "0")
    return interface_name("");
  if (type == ValueType::InterfaceIndex && all_digits(text))
    return unreadable("interface index " + std::string(text) + " in this place: not modelled");
  std::string unescaped;
  if (is_interface(type)) {
    // "eth\*" is the name that ends with a star.
    unescaped = text;
    if (text.ends_with("\\*"))
      unescaped.replace(unescaped.size() - 2, 2, "*");
    else if (text.ends_with('*'))
      return unreadable("a wildcard where one name was expected");
    text = unescaped;
  }
  const auto value = read_word(type, text);
  if (!value)
    return unreadable("`" + std::string(text.substr(0, 64)) + "`: not a known value");
  return fitting(*value, bits);
}

Readable<Value> read_flags(const Json& json, ValueType type, unsigned bits) {
  Value all = 0;
  for (const Json* item = json.first; item != nullptr; item = item->next) {
    const auto value = read_value(*item, type, bits);
    if (!value)
      return value;
    all |= *value;
  }
  return all;
}

}  // namespace

unsigned bits_of(ValueType type) {
  switch (type) {
    case ValueType::Ipv4:
    case ValueType::Mark:
    case ValueType::CtState:
    case ValueType::CtStatus:
    case ValueType::InterfaceGroup:
    case ValueType::FibType:
      return 32;
    case ValueType::Ipv6:
    case ValueType::InterfaceName:
    case ValueType::InterfaceIndex:
      return 128;
    case ValueType::Ether:
      return 48;
    case ValueType::EtherType:
    case ValueType::Service:
    case ValueType::InterfaceType:
    case ValueType::ArpOperation:
      return 16;
    case ValueType::Integer:
    case ValueType::Verdict:
      return 0;
    default:
      return 8;
  }
}

Readable<Value> read_value(const Json& json, ValueType type, unsigned bits) {
  switch (json.kind) {
    case Json::Kind::Integer:
      if (json.negative)
        return unreadable("a negative number");
      return fitting(json.integer, bits);
    case Json::Kind::Boolean:
      return Value{json.integer};
    case Json::Kind::Text:
      return read_text(json.text, type, bits);
    case Json::Kind::Array:
      return read_flags(json, type, bits);
    default:
      if (const Json* parts = json.find("|"); parts != nullptr && parts->is_array())
        return read_flags(*parts, type, bits);
      return unreadable("not a constant");
  }
}

Readable<ValueRange> read_range(const Json& json, ValueType type, unsigned bits) {
  if (json.is_text() && is_interface(type) && json.text.ends_with('*') &&
      !json.text.ends_with("\\*"))
    return name_prefix(json.text.substr(0, json.text.size() - 1));
  if (const Json* range = json.find("range")) {
    // nft 1.0.6 joins neighbouring wildcards ("a*" and "b*") and then lists the range as ["", ""].
    if (is_interface(type))
      return unreadable("a range of interface names: nft does not list its ends");
    if (!range->is_array() || range->size != 2)
      return unreadable("a range of two values was expected");
    const auto first = read_value(*range->first, type, bits);
    const auto last = read_value(*range->first->next, type, bits);
    if (!first || !last)
      return unreadable(first ? last.error().reason : first.error().reason);
    if (*first > *last)
      return unreadable("a range that ends before it begins");
    return ValueRange{*first, *last};
  }
  if (const Json* prefix = json.find("prefix")) {
    const Json* address = prefix->find("addr");
    const Json* length = prefix->find("len");
    const unsigned width = bits != 0 ? bits : bits_of(type);
    if (address == nullptr || length == nullptr || !length->is_integer() || length->integer > width)
      return unreadable("a prefix with addr and len was expected");
    const auto base = read_value(*address, type, bits);
    if (!base)
      return unreadable(base.error().reason);
    return prefix_range(*base, static_cast<unsigned>(length->integer), width);
  }
  const auto value = read_value(json, type, bits);
  if (!value)
    return unreadable(value.error().reason);
  return ValueRange{*value, *value};
}

bool is_dead_interface(const Json& json, ValueType type) {
  return type == ValueType::InterfaceIndex && json.is_text() && json.text != "0" &&
         all_digits(json.text);
}

std::vector<ValueRange> normalised(std::vector<ValueRange> ranges) {
  std::sort(ranges.begin(), ranges.end());
  std::size_t kept = 0;
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    const bool joins =
        ranges[i].first <= ranges[kept].last || ranges[i].first - 1 == ranges[kept].last;
    if (joins)
      ranges[kept].last = std::max(ranges[kept].last, ranges[i].last);
    else
      ranges[++kept] = ranges[i];
  }
  if (!ranges.empty())
    ranges.resize(kept + 1);
  return ranges;
}

}  // namespace bulkhead::compiler::proof
