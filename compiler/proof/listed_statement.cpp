#include "compiler/proof/listed_statement.h"

#include <algorithm>
#include <array>

#include "compiler/proof/listed_values.h"

namespace bulkhead::compiler::proof {

namespace {

// "@name" of a set, but for an interface that is really called so.
const Json* set_name(const Json& json, const TypedKey& key, const RuleReader& rule) {
  const bool refers = json.is_text() && json.text.starts_with('@') &&
                      (key[0].type != ValueType::InterfaceName ||
                       rule.names.has_set(rule.table, json.text.substr(1)));
  return refers ? &json : nullptr;
}

Index add_set(Set set, RuleReader& rule) {
  set.table = rule.table;
  rule.ruleset.sets.push_back(std::move(set));
  return static_cast<Index>(rule.ruleset.sets.size() - 1);
}

bool is_plain(const Set& set) {
  return set.width == 1 &&
         std::all_of(set.elements.begin(), set.elements.end(), [](const Element& element) {
           return !element.limited && !element.expires && !element.any && element.comment.empty();
         });
}

// What the key is compared with: {"set": [...]}, "@name", a range, or several parts.
Readable<void> membership(const Json& right, const TypedKey& key, Match& match, RuleReader& rule) {
  if (const Json* name = set_name(right, key, rule)) {
    match.set = rule.names.set(rule.table, name->text.substr(1));
    return {};
  }
  const Json* elements = right.find("set");
  if (elements == nullptr && key.size() == 1) {
    if (is_dead_interface(right, key[0].type)) {
      rule.rule.dead_interfaces.emplace_back(right.text);
      return {};
    }
    const auto range = read_range(right, key[0].type, bits(key[0].operand));
    if (!range)
      return unreadable(range.error().reason);
    match.ranges.push_back(*range);
    return {};
  }
  Set set;
  if (elements != nullptr) {
    read_elements(*elements, types_of(key), rule.table, rule.names, set);
  } else {
    // One concatenation, without braces around it.
    Json list;
    list.kind = Json::Kind::Array;
    list.first = &right;
    list.size = 1;
    Json alone = right;
    alone.next = nullptr;
    list.first = &alone;
    read_elements(list, types_of(key), rule.table, rule.names, set);
  }
  if (!set.unmodelled.empty())
    return unreadable(set.unmodelled);
  for (std::string& dead : set.dead_interfaces)
    rule.rule.dead_interfaces.push_back(std::move(dead));
  if (is_plain(set))
    match.ranges = normalised(std::move(set.keys));
  else
    match.set = add_set(std::move(set), rule);
  return {};
}

struct Comparison {
  std::string_view word;
  bool below, equal;
};
constexpr std::array kComparisons = std::to_array<Comparison>({
    {"<", true, false},
    {"<=", true, true},
    {">", false, false},
    {">=", false, true},
});

Readable<void> compare(const Comparison& comparison, const Json& right, const TypedOperand& left,
                       Match& match) {
  const unsigned width = bits(left.operand);
  const auto value = read_value(right, left.type, width);
  if (!value)
    return unreadable(value.error().reason);
  const Value most = greatest(width);
  if (comparison.below) {
    if (comparison.equal || *value > 0)
      match.ranges.push_back({0, comparison.equal ? *value : *value - 1});
  } else if (comparison.equal || *value < most) {
    match.ranges.push_back({comparison.equal ? *value : *value + 1, most});
  }
  return {};
}

// `tcp flags syn` is (flags & syn) != 0, and `tcp flags ! syn` its opposite.
Readable<void> test_flags(bool any, const Json& right, const TypedOperand& left, Match& match) {
  const auto flags = read_value(right, left.type, bits(left.operand));
  if (!flags)
    return unreadable(flags.error().reason);
  match.key[0].mask &= *flags;
  match.key[0].flip &= *flags;
  match.ranges.push_back({0, 0});
  match.negated = any;
  return {};
}

// "exists" and "missing" ask for a route, a name for its interface.
void settle_fib(const Json& right, TypedKey& key) {
  for (TypedOperand& part : key) {
    const bool asks_route = right.kind == Json::Kind::Boolean || right.text == "0";
    if (part.operand.selector == Selector::FibOif && !asks_route)
      part.operand.selector = Selector::FibOifname;
    else if (part.operand.selector == Selector::FibOifname && asks_route)
      part.operand.selector = Selector::FibOif;
    if (part.operand.selector == Selector::FibOif)
      part.type = ValueType::Boolean;
  }
}

bool is_drawn(const Json& left) {
  constexpr std::array<std::string_view, 3> kDrawn{"numgen", "jhash", "symhash"};
  if (left.first == nullptr)
    return false;
  return std::find(kDrawn.begin(), kDrawn.end(), left.first->name) != kDrawn.end();
}

Readable<Match> match_of(const Json& json, RuleReader& rule) {
  const Json* left = json.find("left");
  const Json* right = json.find("right");
  const std::string_view op = json.text_of("op");
  if (left == nullptr || right == nullptr)
    return unreadable("a match with a left and a right side was expected");
  auto key = read_key(*left, rule.implied, rule.rule.statements);
  if (!key)
    return unreadable(key.error().reason);
  settle_fib(*right, *key);
  Match match;
  match.key = untyped(*key);
  Readable<void> done;
  const bool is_set = right->find("set") != nullptr || set_name(*right, *key, rule) != nullptr;
  const auto* comparison = std::find_if(kComparisons.begin(), kComparisons.end(),
                                        [&](const Comparison& row) { return row.word == op; });
  if (op == "==" || op == "!=" || (op == "in" && is_set)) {
    match.negated = op == "!=";
    done = membership(*right, *key, match, rule);
  } else if (key->size() != 1) {
    done = unreadable("operator " + std::string(op) + " on several fields: not modelled");
  } else if (op == "in" || op == "!") {
    done = test_flags(op == "in", *right, (*key)[0], match);
  } else if (comparison != kComparisons.end()) {
    done = compare(*comparison, *right, (*key)[0], match);
  } else {
    done = unreadable("operator " + std::string(op) + ": not modelled");
  }
  if (!done)
    return unreadable(done.error().reason);
  return match;
}

// ---- maps

Readable<Index> map_data(const Json& json, const TypedKey& key, std::vector<ValueType> data,
                         RuleReader& rule) {
  if (json.is_text() && json.text.starts_with('@'))
    return rule.names.set(rule.table, json.text.substr(1));
  const Json* elements = json.find("set");
  if (elements == nullptr)
    return unreadable("a map or its name was expected");
  SetTypes types = types_of(key);
  types.is_map = true;
  types.data = std::move(data);
  Set set;
  read_elements(*elements, types, rule.table, rule.names, set);
  if (!set.unmodelled.empty())
    return unreadable(set.unmodelled);
  for (const std::string& dead : set.dead_interfaces)
    rule.rule.dead_interfaces.push_back(dead);
  return add_set(std::move(set), rule);
}

Readable<Lookup> lookup_of(const Json& json, std::vector<ValueType> types, RuleReader& rule) {
  const Json* key_json = json.find("key");
  const Json* data = json.find("data");
  if (key_json == nullptr || data == nullptr)
    return unreadable("a map with key and data was expected");
  auto key = read_key(*key_json, rule.implied, rule.rule.statements);
  if (!key)
    return unreadable(key.error().reason);
  const auto set = map_data(*data, *key, std::move(types), rule);
  if (!set)
    return unreadable(set.error().reason);
  return Lookup{untyped(*key), *set};
}

// ---- assignments

// What a rule may write without changing who speaks to whom, or how the kernel carries it on. A
// packet with another address, port, type, length, hop limit or packet type is not what the policy
// was asked about: after such a rule nothing is known of it.
bool is_assignable(Selector selector) {
  constexpr std::array kHarmless{
      Selector::MetaMark, Selector::MetaPriority, Selector::MetaNftrace, Selector::CtMark,
      Selector::CtZone,   Selector::Ip4Dscp,      Selector::Ip4Ecn,      Selector::Ip6Dscp,
      Selector::Ip6Ecn,   Selector::Ip6FlowLabel};
  return std::find(kHarmless.begin(), kHarmless.end(), selector) != kHarmless.end();
}

// Set, and looked at by nobody: connection labels, helpers, event masks, the MSS option.
bool is_without_effect(const Json& key) {
  constexpr std::array<std::string_view, 5> kConntrack{"label", "event", "helper", "timeout",
                                                       "expectation"};
  if (const Json* ct = key.find("ct"))
    return std::find(kConntrack.begin(), kConntrack.end(), ct->text_of("key")) != kConntrack.end();
  if (const Json* meta = key.find("meta"))
    return meta->text_of("key") == "secmark";
  return key.find("tcp option") != nullptr;
}

Readable<Source> source_of(const Json& json, const TypedOperand& target, RuleReader& rule) {
  if (const Json* map = json.find("map")) {
    auto lookup = lookup_of(*map, {target.type}, rule);
    if (!lookup)
      return unreadable(lookup.error().reason);
    return Source(std::move(*lookup));
  }
  const unsigned width = bits(target.operand);
  if (json.is_object() && json.find("|") == nullptr) {
    auto operand = read_operand(json, rule.implied, rule.rule.statements);
    if (!operand)
      return unreadable(operand.error().reason);
    return Source(operand->operand);
  }
  // "0:5", as classes are written.
  if (target.operand.selector == Selector::MetaPriority && json.is_text())
    return Source(std::vector<ValueRange>{{0, greatest(width)}});
  if (const auto value = read_value(json, target.type, width))
    return Source(std::vector<ValueRange>{{*value, *value}});
  auto operand = read_operand(json, rule.implied, rule.rule.statements);
  if (!operand)
    return unreadable(operand.error().reason);
  return Source(operand->operand);
}

}  // namespace

void read_match(const Json& json, RuleReader& rule) {
  if (const Json* left = json.find("left"); left != nullptr && is_drawn(*left))
    return rule.add(Maybe{Maybe::Why::Numgen});
  auto match = match_of(json, rule);
  if (match)
    rule.add(std::move(*match));
  else
    rule.condition(match.error().reason);
}

void read_verdict_map(const Json& json, RuleReader& rule) {
  auto lookup = lookup_of(json, {ValueType::Verdict}, rule);
  if (lookup)
    rule.add(VerdictMap{std::move(lookup->key), lookup->set});
  else
    rule.effect(lookup.error().reason);  // it may end in any of the map's verdicts
}

void read_mangle(const Json& json, RuleReader& rule) {
  const Json* key = json.find("key");
  const Json* value = json.find("value");
  if (key == nullptr || value == nullptr)
    return rule.effect("an assignment of a value to a key was expected");
  if (is_without_effect(*key))
    return rule.add(NoEffect{NoEffect::What::Other});
  const auto target = read_operand(*key, rule.implied, rule.rule.statements);
  if (!target)
    return rule.effect(target.error().reason);
  if (!is_assignable(target->operand.selector))
    return rule.effect("an assignment to this field: not modelled");
  auto source = source_of(*value, *target, rule);
  if (!source)
    return rule.effect(source.error().reason);
  rule.add(Assign{target->operand.selector, std::move(*source)});
  rule.implied.forget();
}

Readable<Lookup> read_lookup(const Json& json, std::vector<ValueType> data, RuleReader& rule) {
  return lookup_of(json, std::move(data), rule);
}

}  // namespace bulkhead::compiler::proof
