#include "compiler/proof/doubts.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "compiler/proof/priorities.h"
#include "compiler/proof/prove.h"
#include "compiler/proof/reading.h"

namespace bulkhead::compiler::proof {

namespace {

// Every rule that a packet of a base chain can come to.
void each_rule(const Ruleset& ruleset, Index chain, std::set<Index>& seen,
               const std::function<void(const Rule&)>& visit) {
  if (chain == kNone || !seen.insert(chain).second)
    return;
  for (const Rule& rule : ruleset.chains[chain].rules) {
    visit(rule);
    for (const Statement& statement : rule.statements) {
      if (const auto* decide = std::get_if<Decide>(&statement))
        each_rule(ruleset, decide->verdict.chain, seen, visit);
      if (const auto* map = std::get_if<VerdictMap>(&statement))
        for (const Element& element : ruleset.sets[map->set].elements)
          if (const auto* verdict = std::get_if<Verdict>(&element.data))
            each_rule(ruleset, verdict->chain, seen, visit);
    }
  }
}

bool any_statement(const Ruleset& ruleset, Index chain,
                   const std::function<bool(const Statement&)>& wanted) {
  bool found = false;
  std::set<Index> seen;
  each_rule(ruleset, chain, seen, [&](const Rule& rule) {
    found |= std::any_of(rule.statements.begin(), rule.statements.end(), wanted);
  });
  return found;
}

bool stops(const Verdict& verdict) {
  return verdict.kind == VerdictKind::Drop || verdict.kind == VerdictKind::Reject ||
         verdict.kind == VerdictKind::Queue;
}

// All but going on as it came.
bool interferes(const Ruleset& ruleset, const Statement& statement) {
  if (const auto* decide = std::get_if<Decide>(&statement))
    return stops(decide->verdict);
  if (const auto* map = std::get_if<VerdictMap>(&statement)) {
    const Set& set = ruleset.sets[map->set];
    return set.dynamic || !set.unmodelled.empty() ||
           std::any_of(set.elements.begin(), set.elements.end(), [](const Element& element) {
             const auto* verdict = std::get_if<Verdict>(&element.data);
             return verdict == nullptr || stops(*verdict);
           });
  }
  if (const auto* unmodelled = std::get_if<Unmodelled>(&statement))
    return unmodelled->kind == Unmodelled::Kind::Effect;
  return std::holds_alternative<Assign>(statement) || std::holds_alternative<Nat>(statement);
}

// Pieces of one datagram do not all answer alike.
bool tells_pieces_apart(const Operands& key) {
  return std::any_of(key.begin(), key.end(), [](const Operand& operand) {
    const Base base =
        operand.selector == Selector::Raw ? operand.place.base : info(operand.selector).base;
    switch (operand.selector) {
      case Selector::Ip4FragOff:
      case Selector::Ip4Length:
      case Selector::Ip6Length:
      case Selector::MetaLength:
        return true;
      default:
        return base == Base::Transport || base == Base::Extension ||
               operand.selector == Selector::Raw;
    }
  });
}

bool tells_pieces_apart(const Statement& statement) {
  if (const auto* match = std::get_if<Match>(&statement))
    return tells_pieces_apart(match->key);
  if (const auto* map = std::get_if<VerdictMap>(&statement))
    return tells_pieces_apart(map->key);
  return std::holds_alternative<Unmodelled>(statement);
}

bool sees_pieces(const BaseChain& base) {
  switch (base.hook) {
    case Hook::Ingress:
    case Hook::Egress:
      return true;
    case Hook::Prerouting:
    case Hook::Output:
      return base.priority <= kDefragment;
    default:
      return false;
  }
}

bool can_stop(const Ruleset& ruleset, Index chain, const BaseChain& base) {
  return base.policy_drop || any_statement(ruleset, chain, [&](const Statement& statement) {
           return interferes(ruleset, statement);
         });
}

bool tracks(const Ruleset& ruleset, TableFamily family) {
  const bool v4 = family != TableFamily::Ip6, v6 = family != TableFamily::Ip;
  return (v4 && tracks_connections(ruleset, Family::V4)) ||
         (v6 && tracks_connections(ruleset, Family::V6));
}

std::string doubt_of(const Ruleset& ruleset, Index index, const BaseChain& base) {
  const TableFamily family = ruleset.table_of(ruleset.chains[index]).family;
  if (family == TableFamily::Arp || family == TableFamily::Bridge)
    return can_stop(ruleset, index, base)
               ? "can stop or change frames, and the proof looks at routed packets only"
               : "";
  if (base.type == ChainType::Route && any_statement(ruleset, index, [](const Statement& one) {
        const auto* assign = std::get_if<Assign>(&one);
        return assign != nullptr && assign->target == Selector::MetaMark;
      }))
    return "sets marks by which the kernel may route anew";
  if (sees_pieces(base) && tracks(ruleset, family) && can_stop(ruleset, index, base) &&
      any_statement(ruleset, index, [](const Statement& one) { return tells_pieces_apart(one); }))
    return "sees the fragments of a datagram one by one, and the proof looks at whole ones";
  return {};
}

// ---- zones

std::optional<std::string> interface_of(const ValueRange& range) {
  if (range.first != range.last)
    return {};
  std::string name;
  for (int shift = 120; shift >= 0; shift -= 8)
    if (const auto byte = static_cast<unsigned char>(range.first >> shift); byte != 0)
      name += static_cast<char>(byte);
  return interface_name(name) == range.first ? std::optional(name) : std::nullopt;
}

std::optional<std::uint16_t> zone_of(const std::vector<ValueRange>& values) {
  if (values.size() != 1 || values[0].first != values[0].last)
    return {};
  return static_cast<std::uint16_t>(values[0].first);
}

class ZoneReader {
 public:
  explicit ZoneReader(const Ruleset& ruleset) : ruleset_(ruleset) {}

  std::optional<Zones> read() {
    for (Index chain = 0; chain < ruleset_.chains.size(); ++chain)
      for (const Rule& rule : ruleset_.chains[chain].rules)
        for (const Statement& statement : rule.statements) {
          const auto* assign = std::get_if<Assign>(&statement);
          if (assign != nullptr && assign->target == Selector::CtZone &&
              !take(ruleset_.chains[chain], rule, *assign))
            return {};
        }
    return std::move(zones_);
  }

 private:
  bool take(const Chain& chain, const Rule& rule, const Assign& assign) {
    if (!chain.base || chain.base->priority >= kConntrack ||
        ruleset_.table_of(chain).family != TableFamily::Inet)
      return false;
    const bool in = chain.base->hook == Hook::Prerouting;
    if (!in && chain.base->hook != Hook::Output)
      return false;
    auto& into = in ? zones_.in : zones_.out;
    const Selector by = in ? Selector::MetaIifname : Selector::MetaOifname;
    const Match* only = nullptr;
    for (const Statement& statement : rule.statements) {
      if (std::holds_alternative<NoEffect>(statement))
        continue;
      if (const auto* match = std::get_if<Match>(&statement); match != nullptr && only == nullptr)
        only = match;
      else if (!std::holds_alternative<Assign>(statement))
        return false;
    }
    if (const auto* lookup = std::get_if<Lookup>(&assign.value))
      return only == nullptr && is_plain(lookup->key, by) && take(ruleset_.sets[lookup->set], into);
    const auto* values = std::get_if<std::vector<ValueRange>>(&assign.value);
    const auto zone = values != nullptr ? zone_of(*values) : std::nullopt;
    if (!zone || only == nullptr || only->negated || only->set != kNone ||
        !is_plain(only->key, by) || only->ranges.size() != 1)
      return false;
    return add(into, only->ranges[0], *zone);
  }

  bool take(const Set& set, std::map<std::string, std::uint16_t>& into) {
    if (set.dynamic || set.timeout || !set.unmodelled.empty())
      return false;
    for (std::size_t i = 0; i < set.elements.size(); ++i) {
      const auto* data = std::get_if<std::vector<ValueRange>>(&set.elements[i].data);
      const auto zone = data != nullptr ? zone_of(*data) : std::nullopt;
      if (!zone || set.elements[i].any || !add(into, set.key(i)[0], *zone))
        return false;
    }
    return true;
  }

  // The last rule to say a zone counts, and rules that say two are read by nobody: once each.
  static bool add(std::map<std::string, std::uint16_t>& into, const ValueRange& key,
                  std::uint16_t zone) {
    const auto name = interface_of(key);
    return name && into.emplace(*name, zone).second;
  }

  static bool is_plain(const Operands& key, Selector selector) {
    return key.size() == 1 && key[0].selector == selector && field_of(key[0]).has_value();
  }

  const Ruleset& ruleset_;
  Zones zones_;
};

}  // namespace

std::vector<std::string> doubts(const Ruleset& ruleset) {
  std::vector<std::string> out;
  for (Index chain = 0; chain < ruleset.chains.size(); ++chain) {
    const auto& base = ruleset.chains[chain].base;
    if (!base || ruleset.table_of(ruleset.chains[chain]).dormant)
      continue;
    const std::string doubt = doubt_of(ruleset, chain, *base);
    if (!doubt.empty())
      out.push_back(fmt::format("{} {}", chain_name(ruleset, chain), doubt));
  }
  return out;
}

std::optional<Zones> zones(const Ruleset& ruleset) {
  return ZoneReader(ruleset).read();
}

}  // namespace bulkhead::compiler::proof
