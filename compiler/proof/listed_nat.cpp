#include "compiler/proof/listed_nat.h"

#include "compiler/proof/listed_values.h"

namespace bulkhead::compiler::proof {

namespace {

std::optional<Family> family_of(const Json& json, TableFamily table) {
  const std::string_view said = json.text_of("family");
  if (said == "ip6" || (said.empty() && table == TableFamily::Ip6))
    return Family::V6;
  if (said == "ip" || (said.empty() && table == TableFamily::Ip))
    return Family::V4;
  return std::nullopt;
}

bool has_flag(const Json& json, std::string_view member, std::string_view flag) {
  const Json* flags = json.find(member);
  if (flags == nullptr)
    return false;
  if (flags->text == flag)
    return true;
  for (const Json* item = flags->first; item != nullptr; item = item->next)
    if (item->text == flag)
      return true;
  return false;
}

// A map's values may be an address alone or an address and a port: the first element tells. Of a
// named map its own listing does.
bool gives_port(const Json& map) {
  const Json* data = map.find("data");
  const Json* elements = data != nullptr ? data->find("set") : nullptr;
  const Json* first = elements != nullptr ? elements->first : nullptr;
  return first != nullptr && first->is_array() && first->size == 2 &&
         first->first->next->find("concat") != nullptr;
}

Readable<Source> translated(const Json& json, std::vector<ValueType> types, unsigned bits,
                            RuleReader& rule) {
  if (const Json* map = json.find("map")) {
    if (gives_port(*map))
      types.push_back(ValueType::Service);
    auto lookup = read_lookup(*map, std::move(types), rule);
    if (!lookup)
      return unreadable(lookup.error().reason);
    return Source(std::move(*lookup));
  }
  const auto range = read_range(json, types[0], bits);
  if (!range)
    return unreadable(range.error().reason);
  return Source(std::vector<ValueRange>{*range});
}

}  // namespace

void read_nat(NatKind kind, const Json& json, RuleReader& rule) {
  Nat nat;
  nat.kind = kind;
  nat.family = family_of(json, rule.implied.family());
  nat.netmap = has_flag(json, "type_flags", "prefix") || has_flag(json, "flags", "netmap");
  if (const Json* address = json.find("addr")) {
    const bool v6 = nat.family == Family::V6;
    auto source =
        translated(*address, {v6 ? ValueType::Ipv6 : ValueType::Ipv4}, v6 ? 128 : 32, rule);
    if (!source)
      return rule.effect(source.error().reason);
    nat.address = std::move(*source);
  }
  if (const Json* port = json.find("port")) {
    auto source = translated(*port, {ValueType::Service}, 16, rule);
    if (!source)
      return rule.effect(source.error().reason);
    nat.port = std::move(*source);
  }
  rule.add(std::move(nat));
  rule.implied.forget();
}

}  // namespace bulkhead::compiler::proof
