// Checks that the text alone answers.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/lint/checks.h"
#include "compiler/proof/value.h"

namespace bulkhead::compiler::lint {

namespace {

using namespace proof;

template <class Visit>
void each_rule(const Context& context, Visit&& visit) {
  for (Index chain = 0; chain < context.ruleset.chains.size(); ++chain)
    for (Index rule = 0; rule < context.ruleset.chains[chain].rules.size(); ++rule)
      visit(RuleRef{chain, rule}, context.ruleset.chains[chain].rules[rule]);
}

bool names_interface(Selector selector) {
  return selector == Selector::MetaIifname || selector == Selector::MetaOifname ||
         selector == Selector::MetaSdifname;
}

// The interface names that a rule compares with, as ranges.
struct NamesInterfaces {
  const Ruleset& ruleset;
  std::vector<ValueRange>& out;

  void set(const Operands& key, Index index) const {
    const Set& set = ruleset.sets[index];
    for (std::size_t part = 0; part < key.size(); ++part)
      if (names_interface(key[part].selector))
        for (std::size_t i = 0; i < set.elements.size(); ++i)
          if (!set.elements[i].any)
            out.push_back(set.key(i)[part]);
  }
  void operator()(const Match& match) const {
    if (match.set != kNone)
      set(match.key, match.set);
    else if (names_interface(match.key.front().selector))
      out.insert(out.end(), match.ranges.begin(), match.ranges.end());
  }
  void operator()(const VerdictMap& map) const { set(map.key, map.set); }
  template <class Other>
  void operator()(const Other&) const {}
};

bool exists(const std::set<std::string>& known, const ValueRange& range) {
  return range.contains(0) || range.contains(interface_name("lo")) ||
         std::any_of(known.begin(), known.end(),
                     [&](const std::string& name) { return range.contains(interface_name(name)); });
}

// "iif 7" of which no interface is left, in the rule or in a set that it asks.
std::vector<std::string> gone(const Ruleset& ruleset, const Rule& rule) {
  std::vector<std::string> out = rule.dead_interfaces;
  for (const Statement& statement : rule.statements) {
    const auto* match = std::get_if<Match>(&statement);
    const auto* map = std::get_if<VerdictMap>(&statement);
    const Index set = match != nullptr ? match->set : map != nullptr ? map->set : kNone;
    if (set != kNone)
      out.insert(out.end(), ruleset.sets[set].dead_interfaces.begin(),
                 ruleset.sets[set].dead_interfaces.end());
  }
  return out;
}

}  // namespace

void interfaces(Context& context, Findings& out) {
  if (!context.options.interfaces)
    return;
  each_rule(context, [&](const RuleRef& ref, const Rule& rule) {
    std::vector<ValueRange> named;
    for (const Statement& statement : rule.statements)
      std::visit(NamesInterfaces{context.ruleset, named}, statement);
    std::set<std::string> missing;
    for (const ValueRange& range : named)
      if (!exists(*context.options.interfaces, range))
        missing.insert(name_of(range.first) + (range.first == range.last ? "" : "*"));
    if (!missing.empty())
      add_rule(context, out, "unknown-interface", Severity::Warning, ref,
               fmt::format("there is no interface {} among the {}", fmt::join(missing, ", "),
                           context.options.whose),
               "mend the name, or take the rule out");
  });
}

void dead_interfaces(Context& context, Findings& out) {
  each_rule(context, [&](const RuleRef& ref, const Rule& rule) {
    const auto names = gone(context.ruleset, rule);
    if (!names.empty())
      add_rule(context, out, "gone-interface", Severity::Error, ref,
               fmt::format("it asks for interface number {}, which no interface has any more: it "
                           "never matches again",
                           fmt::join(names, ", ")),
               "name interfaces by iifname and oifname, which find one that was made again");
  });
}

void dormant(Context& context, Findings& out) {
  for (const Table& table : context.ruleset.tables)
    if (table.dormant || table.maybe_dormant)
      add(out, "dormant-table", Severity::Error,
          fmt::format("table {} {}", to_string(table.family), table.name),
          table.dormant ? "the table is dormant: none of its chains does anything"
                        : "the table has flags that nft lists as garbage: it may be dormant, and "
                          "its chains do nothing then",
          "take `flags dormant` away, or the table");
}

void unmodelled(Context& context, Findings& out) {
  each_rule(context, [&](const RuleRef& ref, const Rule& rule) {
    for (const Statement& statement : rule.statements)
      if (const auto* what = std::get_if<Unmodelled>(&statement))
        add_rule(context, out, "outside-model", Severity::Note, ref,
                 fmt::format("bulkhead does not know what this does ({}): packets that come here "
                             "are neither called allowed nor blocked",
                             what->reason),
                 "say it in expressions that are known, or probe the path");
  });
  for (Index set = 0; set < context.ruleset.sets.size(); ++set)
    if (!context.ruleset.sets[set].unmodelled.empty() && !context.ruleset.sets[set].name.empty())
      add(out, "outside-model", Severity::Note, set_name(context.ruleset, set),
          "its elements cannot be read: " + context.ruleset.sets[set].unmodelled,
          "rules that ask it are not known");
}

void flowtables(Context& context, Findings& out) {
  each_rule(context, [&](const RuleRef& ref, const Rule& rule) {
    for (const Statement& statement : rule.statements)
      if (const auto* flow = std::get_if<FlowOffload>(&statement))
        add_rule(context, out, "flowtable-skips", Severity::Warning, ref,
                 fmt::format("established connections in flow table {} pass by every later rule: "
                             "one whose allow is taken away stays open",
                             flow->flowtable),
                 "delete its conntrack entries when a flow is revoked");
  });
}

void next_headers(Context& context, Findings& out) {
  each_rule(context, [&](const RuleRef& ref, const Rule& rule) {
    for (const Statement& statement : rule.statements) {
      const auto* match = std::get_if<Match>(&statement);
      if (match == nullptr || match->key.front().selector != Selector::Ip6NextHeader)
        continue;
      add_rule(context, out, "next-header", Severity::Warning, ref,
               "`ip6 nexthdr` is the first header only: a packet with an extension header in front "
               "is missed",
               "ask `meta l4proto`, which looks behind extension headers");
      break;
    }
  });
}

void joined_comparisons(Context& context, Findings& out) {
  each_rule(context, [&](const RuleRef& ref, const Rule& rule) {
    if (rule.joined)
      add_rule(
          context, out, "joined-comparison", Severity::Error, ref,
          "nft 1.0.6 made one comparison of neighbouring `!=`: the rule takes packets of which "
          "one field differs, not only those of which each does",
          "let go what is excluded by rules before it: `tcp sport 5 return`, then `tcp dport 80 "
          "return`");
  });
}

}  // namespace bulkhead::compiler::lint
