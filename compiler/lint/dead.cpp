// Rules that can never match, and which rules before them take their packets.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/lint/checks.h"

namespace bulkhead::compiler::lint {

namespace {

using namespace proof;

bool goes_on(const Ending& ending) {
  return std::any_of(ending.ways.begin(), ending.ways.end(), [](const Way& way) {
    return way.end == End::Continue || way.end == End::Done || way.end == End::Unknown;
  });
}

// What rules of a chain take for sure, in a tree of unions: the first one that takes something of a
// set is found in log(rules) steps.
class Takers {
 public:
  Takers(Context& context, Index chain) : context_(context) {
    const auto count = static_cast<Index>(context.ruleset.chains[chain].rules.size());
    for (size_ = 1; size_ < count; size_ *= 2) {
    }
    tree_.resize(2 * size_);
    for (Index i = 0; i < count; ++i) {
      const Diagram does = context.rules.rule({chain, i});
      tree_[size_ + i] =
          context.space.where(does, [&](Terminal t) { return !goes_on(context.endings.at(t)); });
    }
    for (std::size_t i = size_; i-- > 1;)
      tree_[i] = context.space.unite(tree_[2 * i], tree_[2 * i + 1]);
  }

  [[nodiscard]] Diagram of(Index rule) const { return tree_[size_ + rule]; }
  // Rules before `end` that take `packets`, which is then what they leave; each with what it takes.
  std::vector<std::pair<Index, Diagram>> take(Diagram& packets, Index end) {
    std::vector<std::pair<Index, Diagram>> out;
    take(1, 0, size_, packets, end, out);
    return out;
  }

 private:
  void take(std::size_t node, std::size_t first, std::size_t width, Diagram& packets, Index end,
            std::vector<std::pair<Index, Diagram>>& out) {
    Diagrams& space = context_.space;
    const Diagram here = first < end ? space.intersect(tree_[node], packets) : space.nothing();
    if (here == space.nothing())
      return;
    if (width == 1) {
      out.emplace_back(static_cast<Index>(first), here);
      packets = space.subtract(packets, here);
      return;
    }
    take(2 * node, first, width / 2, packets, end, out);
    take(2 * node + 1, first + width / 2, width / 2, packets, end, out);
  }

  Context& context_;
  std::size_t size_ = 1;
  std::vector<Diagram> tree_;
};

// A set without elements in the rule, by its name.
std::string empty_set(const Ruleset& ruleset, const Rule& rule) {
  for (const Statement& statement : rule.statements) {
    const auto* match = std::get_if<Match>(&statement);
    const auto* map = std::get_if<VerdictMap>(&statement);
    const Index set = map != nullptr                        ? map->set
                      : match != nullptr && !match->negated ? match->set
                                                            : kNone;
    if (set != kNone && ruleset.sets[set].elements.empty() && !ruleset.sets[set].name.empty())
      return ruleset.sets[set].name;
  }
  return "";
}

bool names_gone_interface(const Ruleset& ruleset, const Rule& rule) {
  return !rule.dead_interfaces.empty() ||
         std::any_of(rule.statements.begin(), rule.statements.end(), [&](const Statement& what) {
           const auto* match = std::get_if<Match>(&what);
           return match != nullptr && match->set != kNone &&
                  !ruleset.sets[match->set].dead_interfaces.empty();
         });
}

class Dead {
 public:
  Dead(Context& context, Findings& out) : context_(context), out_(out) {}

  void chain(Index index) {
    const ChainReach& reach = context_.reach[index];
    const auto& rules = context_.ruleset.chains[index].rules;
    if (std::none_of(reach.hit.begin(), reach.hit.end(), [](bool hit) { return !hit; }))
      return;
    const std::string name = chain_name(context_.ruleset, index);
    if (!reach.used) {
      place(index, "unused-chain", Severity::Warning, "no rule leads here: its rules do nothing",
            "jump to it, or take it out");
      return;
    }
    if (reach.entry.empty() &&
        std::none_of(reach.hit.begin(), reach.hit.end(), [](bool hit) { return hit; })) {
      place(index, "unreached-chain", Severity::Warning,
            fmt::format("no packet comes here: the rules that lead here match none ({})",
                        fmt::join(callers(index), "; ")),
            "see why those rules match nothing");
      return;
    }
    for (Index i = 0; i < rules.size(); ++i)
      if (!reach.hit[i] && !names_gone_interface(context_.ruleset, rules[i]))
        rule({index, i}, rules[i]);
  }

 private:
  void place(Index chain, std::string_view code, Severity severity, std::string what,
             std::string todo) {
    add(out_, code, severity, chain_name(context_.ruleset, chain), std::move(what),
        std::move(todo));
    out_.back().chain = chain;
  }

  std::vector<std::string> callers(Index chain) const {
    std::vector<std::string> out;
    for (Index i = 0; i < context_.ruleset.chains.size(); ++i)
      for (Index rule = 0; rule < context_.ruleset.chains[i].rules.size(); ++rule) {
        const auto to = targets(context_.ruleset, context_.ruleset.chains[i].rules[rule]);
        if (std::find(to.begin(), to.end(), chain) != to.end() && out.size() < 3)
          out.push_back(rule_words({i, rule}));
      }
    return out;
  }

  std::string rule_words(const RuleRef& ref) const {
    return chain_name(context_.ruleset, ref.chain) + ", " +
           rules_words(context_.ruleset.chains[ref.chain], {ref.rule});
  }

  void rule(const RuleRef& ref, const Rule& rule) {
    Diagrams& space = context_.space;
    const Diagram alone = context_.rules.alone(ref);
    const Diagram left = space.constant(Endings::of(End::Continue));
    const Diagram matches = space.where(alone, [&](Terminal t) { return t != left.terminal(); });
    const Strands& entry = context_.reach[ref.chain].entry;
    const bool is_plain = std::all_of(entry.begin(), entry.end(),
                                      [](const Strand& strand) { return strand.changes.empty(); });
    if (matches == space.nothing()) {
      const std::string empty = empty_set(context_.ruleset, rule);
      add_rule(context_, out_, "never-matches", Severity::Warning, ref,
               empty.empty() ? "no packet meets all its conditions: they exclude each other"
                             : fmt::format("set {} is empty: no packet is in it", empty),
               empty.empty() ? "mend the conditions, or take the rule out" : "fill the set");
      return;
    }
    Diagram packets = space.intersect(matches, entry.packets(space));
    if (!is_plain || packets == space.nothing()) {
      add_rule(context_, out_, "never-matches", Severity::Warning, ref, not_here(ref),
               "mend the conditions, or take the rule out");
      return;
    }
    shadowed(ref, packets);
  }

  std::string not_here(const RuleRef& ref) const {
    const Chain& chain = context_.ruleset.chains[ref.chain];
    if (chain.base)
      return fmt::format(
          "no packet that comes to the {} hook, and that chains before this one let "
          "through, meets its conditions",
          to_string(chain.base->hook));
    return fmt::format("no packet that is sent here meets its conditions ({})",
                       fmt::join(callers(ref.chain), "; "));
  }

  void shadowed(const RuleRef& ref, Diagram whole) {
    Diagram packets = whole;
    auto& takers = takers_.try_emplace(ref.chain, context_, ref.chain).first->second;
    auto taken = takers.take(packets, ref.rule);
    // One that takes all by itself is all there is to say.
    for (const auto& [rule, what] : taken)
      if (context_.space.is_subset(whole, takers.of(rule))) {
        taken = {{rule, whole}};
        break;
      }
    std::vector<Index> all, otherwise;
    for (const auto& [rule, what] : taken) {
      all.push_back(rule);
      if (!ends_alike({ref.chain, rule}, ref, what))
        otherwise.push_back(rule);
    }
    const Chain& chain = context_.ruleset.chains[ref.chain];
    if (all.empty()) {
      add_rule(context_, out_, "never-matches", Severity::Warning, ref, not_here(ref),
               "mend the conditions, or take the rule out");
      return;
    }
    const std::string who = rules_words(chain, all);
    if (otherwise.empty())
      add_rule(context_, out_, "shadowed", Severity::Warning, ref,
               fmt::format("it never matches: {} before it take{} all its packets, and do{} the "
                           "same with them",
                           who, all.size() == 1 ? "s" : "", all.size() == 1 ? "es" : ""),
               "take it out");
    else
      add_rule(context_, out_, "shadowed", Severity::Error, ref,
               fmt::format("it never matches: {} before it take{} all its packets, and {} "
                           "decide{} otherwise",
                           who, all.size() == 1 ? "s" : "",
                           otherwise == all ? std::string(all.size() == 1 ? "it" : "they")
                                            : rules_words(chain, otherwise),
                           otherwise.size() == 1 ? "s" : ""),
               "move it before them if it is meant, else take it out");
  }

  bool ends_alike(const RuleRef& a, const RuleRef& b, Diagram packets) {
    const Diagram none = context_.space.constant(kMaxTerminal);
    return context_.space.if_then_else(packets, context_.rules.rule(a), none) ==
           context_.space.if_then_else(packets, context_.rules.rule(b), none);
  }

  Context& context_;
  Findings& out_;
  std::map<Index, Takers> takers_;
};

}  // namespace

void never_matches(Context& context, Findings& out) {
  if (context.reach.empty())
    return;
  Dead dead(context, out);
  for (Index chain = 0; chain < context.ruleset.chains.size(); ++chain)
    dead.chain(chain);
}

}  // namespace bulkhead::compiler::lint
