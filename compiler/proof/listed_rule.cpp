#include "compiler/proof/listed_rule.h"

#include <algorithm>
#include <array>

#include "compiler/proof/listed_nat.h"
#include "compiler/proof/listed_statement.h"
#include "compiler/proof/listed_values.h"

namespace bulkhead::compiler::proof {

namespace {

using Reader = void (*)(const Json&, RuleReader&);

// ---- verdicts

void verdict(const Json& json, RuleReader& rule) {
  rule.add(Decide{*read_verdict(*rule.statement, rule.table, rule.names), {}, false});
  static_cast<void>(json);
}

void jump(const Json& json, RuleReader& rule) {
  const auto read = read_verdict(*rule.statement, rule.table, rule.names);
  if (read)
    rule.add(Decide{*read, {}, false});
  else
    rule.effect("a jump without a target");
  static_cast<void>(json);
}

// nft adds what the answer needs and does not list it: an ICMP error of the family, a TCP packet.
void reject(const Json& json, RuleReader& rule) {
  const std::string_view type = json.text_of("type");
  const std::string_view code = json.text_of("expr");
  if (type == "tcp reset")
    rule.implied.protocol("tcp", rule.rule.statements);
  else if (type == "icmp")
    rule.implied.protocol("ip", rule.rule.statements);
  else if (type == "icmpv6")
    rule.implied.protocol("ip6", rule.rule.statements);
  std::string with(type);
  if (!code.empty())
    with.append(" ").append(code);
  rule.add(Decide{{VerdictKind::Reject, kNone}, std::move(with), false});
}

void queue(const Json& json, RuleReader& rule) {
  const Json* flags = json.find("flags");
  bool bypass = flags != nullptr && flags->text == "bypass";
  if (flags != nullptr)
    for (const Json* flag = flags->first; flag != nullptr; flag = flag->next)
      bypass |= flag->text == "bypass";
  rule.add(Decide{{VerdictKind::Queue, kNone}, {}, bypass});
}

// ---- conditions that no header decides

template <Maybe::Why why>
void maybe(const Json&, RuleReader& rule) {
  rule.add(Maybe{why});
}

// ---- effects

template <NoEffect::What what>
void no_effect(const Json&, RuleReader& rule) {
  rule.add(NoEffect{what});
}

void notrack(const Json&, RuleReader& rule) {
  rule.add(Notrack{});
  rule.implied.forget();
}

void flow(const Json& json, RuleReader& rule) {
  rule.add(FlowOffload{std::string(json.text_of("flowtable"))});
}

void update_set(const Json& json, RuleReader& rule) {
  UpdateSet update;
  const std::string_view operation = json.text_of("op");
  update.operation = operation == "update"   ? UpdateSet::Operation::Update
                     : operation == "delete" ? UpdateSet::Operation::Delete
                                             : UpdateSet::Operation::Add;
  const std::string_view name = json.text_of("set");
  const Json* element = json.find("elem");
  if (!name.starts_with('@') || element == nullptr)
    return rule.effect("a set statement without a set or an element");
  if (const Json* wrapped = element->find("elem"))
    element = wrapped->find("val");
  update.set = rule.names.set(rule.table, name.substr(1));
  rule.ruleset.sets[update.set].dynamic = true;
  update.limited = json.find("stmt") != nullptr;
  auto key = element != nullptr ? read_key(*element, rule.implied, rule.rule.statements)
                                : unreadable("a set statement without an element");
  if (!key)
    return rule.effect(key.error().reason);
  update.key = untyped(*key);
  rule.add(std::move(update));
}

// A copy of the packet leaves by another way, which no verdict about this one says.
void copies(const Json&, RuleReader& rule) {
  rule.effect("a copy of the packet, or the packet itself, is sent elsewhere: not modelled");
}

void unmodelled(const Json&, RuleReader& rule) {
  rule.effect(std::string(rule.statement->first->name) + ": not modelled");
}

struct Known {
  std::string_view name;
  Reader read;
};

// Statements by their name in the listing.
constexpr std::array kStatements = std::to_array<Known>({
    {"match", read_match},
    {"accept", verdict},
    {"drop", verdict},
    {"continue", verdict},
    {"return", verdict},
    {"jump", jump},
    {"goto", jump},
    {"vmap", read_verdict_map},
    {"reject", reject},
    {"queue", queue},
    {"mangle", read_mangle},
    {"dnat", read_nat<NatKind::Dnat>},
    {"snat", read_nat<NatKind::Snat>},
    {"masquerade", read_nat<NatKind::Masquerade>},
    {"redirect", read_nat<NatKind::Redirect>},
    {"notrack", notrack},
    {"flow", flow},
    {"set", update_set},
    {"limit", maybe<Maybe::Why::Limit>},
    {"quota", maybe<Maybe::Why::Quota>},
    {"ct count", maybe<Maybe::Why::ConnectionCount>},
    {"meter", maybe<Maybe::Why::Meter>},
    {"counter", no_effect<NoEffect::What::Counter>},
    {"log", no_effect<NoEffect::What::Log>},
    {"last", no_effect<NoEffect::What::Other>},
    {"ct helper", no_effect<NoEffect::What::Other>},
    {"ct timeout", no_effect<NoEffect::What::Other>},
    {"ct expectation", no_effect<NoEffect::What::Other>},
    {"secmark", no_effect<NoEffect::What::Other>},
    {"dup", copies},
    {"fwd", copies},
});

}  // namespace

void RuleReader::condition(std::string reason) {
  add(Unmodelled{Unmodelled::Kind::Condition, to_text(*statement, 200), std::move(reason)});
}

void RuleReader::effect(std::string reason) {
  add(Unmodelled{Unmodelled::Kind::Effect, to_text(*statement, 200), std::move(reason)});
  implied.forget();
}

Rule read_rule(const Json& json, Index table, Names& names, Ruleset& ruleset) {
  RuleReader reader{ruleset.tables[table].family, table, names, ruleset};
  if (const Json* handle = json.find("handle"))
    reader.rule.handle = handle->integer;
  reader.rule.comment = json.text_of("comment");
  const Json* expressions = json.find("expr");
  if (expressions == nullptr || !expressions->is_array() || expressions->size == 0) {
    // nft lists an empty rule like this, and also one of whose expressions it knows none.
    reader.statement = &json;
    reader.effect("listed without expressions: empty, or not understood by the nft that listed it");
    return std::move(reader.rule);
  }
  for (const Json* item = expressions->first; item != nullptr; item = item->next) {
    reader.statement = item;
    const Json* body = item->is_object() ? item->first : nullptr;
    if (body == nullptr || item->size != 1) {
      reader.effect("a statement was expected");
      continue;
    }
    const auto* known = std::find_if(kStatements.begin(), kStatements.end(),
                                     [&](const Known& row) { return row.name == body->name; });
    (known != kStatements.end() ? known->read : unmodelled)(*body, reader);
  }
  return std::move(reader.rule);
}

}  // namespace bulkhead::compiler::proof
