// Rules without which every packet comes to the same end. A counter, a log, a mark or an entry in a
// set is an effect of its own: such rules are never told.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/lint/checks.h"

namespace bulkhead::compiler::lint {

namespace {

using namespace proof;

bool leaves_a_trace(const Ruleset& ruleset, const Rule& rule);

bool leaves_a_trace(const Ruleset& ruleset, Index chain) {
  const auto& rules = ruleset.chains[chain].rules;
  return std::any_of(rules.begin(), rules.end(),
                     [&](const Rule& rule) { return leaves_a_trace(ruleset, rule); });
}

bool leaves_a_trace(const Ruleset& ruleset, const Rule& rule) {
  const auto does = [&](const Statement& statement) {
    if (const auto* map = std::get_if<VerdictMap>(&statement))
      return std::any_of(ruleset.sets[map->set].elements.begin(),
                         ruleset.sets[map->set].elements.end(),
                         [](const Element& element) { return element.counter; });
    return !std::holds_alternative<Match>(statement) && !std::holds_alternative<Decide>(statement);
  };
  const auto to = targets(ruleset, rule);
  return std::any_of(rule.statements.begin(), rule.statements.end(), does) ||
         std::any_of(to.begin(), to.end(),
                     [&](Index chain) { return leaves_a_trace(ruleset, chain); });
}

// Of what later rules write down, packets would be written down that are not now. Counters count
// otherwise behind any change: they do not keep a rule.
bool writes(const Rule& rule) {
  return std::any_of(rule.statements.begin(), rule.statements.end(), [](const Statement& what) {
    const auto* nothing = std::get_if<NoEffect>(&what);
    return (nothing != nullptr && nothing->what != NoEffect::What::Counter) ||
           std::holds_alternative<UpdateSet>(what) || std::holds_alternative<FlowOffload>(what) ||
           std::holds_alternative<Unmodelled>(what) || std::holds_alternative<Maybe>(what);
  });
}

// Of such rules there may be many, and people write them so that somebody can read them.
bool is_drop(const Rule& rule) {
  const auto* decide =
      rule.statements.empty() ? nullptr : std::get_if<Decide>(&rule.statements.back());
  return decide != nullptr &&
         (decide->verdict.kind == VerdictKind::Drop || decide->verdict.kind == VerdictKind::Reject);
}

bool is_for_everything(const Rule& rule) {
  return std::none_of(rule.statements.begin(), rule.statements.end(),
                      [](const Statement& what) { return !std::holds_alternative<Decide>(what); });
}

class Redundant {
 public:
  Redundant(Context& context, Findings& out) : context_(context), out_(out) {}

  void chain(Index index) {
    const Chain& chain = context_.ruleset.chains[index];
    const auto count = static_cast<Index>(chain.rules.size());
    std::vector<bool> candidate(count);
    for (Index i = 0; i < count; ++i)
      candidate[i] = context_.reach[index].hit[i] && !context_.reach[index].comes[i].empty() &&
                     !leaves_a_trace(context_.ruleset, chain.rules[i]) &&
                     !is_for_everything(chain.rules[i]);
    if (std::find(candidate.begin(), candidate.end(), true) == candidate.end())
      return;
    const auto from_each = context_.rules.from_each(index);
    Diagram written = context_.space.nothing();  // by rules behind
    for (Index i = count; i-- > 0;) {
      if (candidate[i] && is_redundant(index, i, from_each[i], from_each[i + 1], written))
        redundant_.push_back({index, i});
      if (writes_or_leads_to(chain.rules[i]))
        written = context_.space.unite(written, matches({index, i}));
    }
  }

  void tell() {
    std::sort(redundant_.begin(), redundant_.end());
    std::map<Index, std::vector<Index>> drops;
    for (const RuleRef& ref : redundant_) {
      if (is_drop(context_.ruleset.chains[ref.chain].rules[ref.rule]))
        drops[ref.chain].push_back(ref.rule);
      else
        add_rule(context_, out_, "no-effect", Severity::Warning, ref,
                 "without it every packet comes to the same end: what follows does the same with "
                 "all that it matches",
                 "take it out, or find out what it was meant to do");
    }
    for (const auto& [chain, rules] : drops)
      add_rule(context_, out_, "no-effect", Severity::Note, {chain, rules.front()},
               fmt::format("what {} drop{} would be dropped without {}, too",
                           rules_words(context_.ruleset.chains[chain], rules),
                           rules.size() == 1 ? "s" : "", rules.size() == 1 ? "it" : "them"),
               "nothing, where they are for readers; count them, and they are of use");
  }

 private:
  bool writes_or_leads_to(const Rule& rule) const {
    const auto to = targets(context_.ruleset, rule);
    return writes(rule) || std::any_of(to.begin(), to.end(), [&](Index chain) {
             const auto& rules = context_.ruleset.chains[chain].rules;
             return std::any_of(rules.begin(), rules.end(),
                                [&](const Rule& other) { return writes_or_leads_to(other); });
           });
  }

  Diagram matches(const RuleRef& ref) {
    const Terminal left = Endings::of(End::Continue);
    return context_.space.where(context_.rules.alone(ref), [&](Terminal t) { return t != left; });
  }

  // What it means for the packet how the chain ends.
  Diagram ends(Index index, Diagram f) {
    const Chain& chain = context_.ruleset.chains[index];
    const Diagram back = context_.rules.renamed(f, End::Return, End::Continue);
    if (!chain.base)
      return back;
    return chain.base->policy_drop ? context_.rules.renamed(back, End::Continue, End::Drop)
                                   : context_.rules.renamed(back, End::Continue, End::Accept);
  }

  bool is_redundant(Index chain, Index rule, Diagram with, Diagram without, Diagram written) {
    Diagrams& space = context_.space;
    const Diagram here = matches({chain, rule});
    for (const Strand& strand : context_.reach[chain].comes[rule]) {
      const Diagram taken =
          space.intersect(strand.packets, context_.rules.may_be_in(here, strand.changes));
      if (space.intersect(taken, context_.rules.may_be_in(written, strand.changes)) !=
          space.nothing())
        return false;
      if (end_of(chain, with, taken, strand) != end_of(chain, without, taken, strand))
        return false;
    }
    return true;
  }

  Diagram end_of(Index chain, Diagram f, Diagram taken, const Strand& strand) {
    const Diagram seen = strand.changes.empty() ? f : context_.rules.changed(strand.changes, f);
    // Outside, an end like any other: the ends are put together below.
    return ends(chain, context_.space.if_then_else(
                           taken, seen, context_.space.constant(Endings::of(End::Queue))));
  }

  Context& context_;
  Findings& out_;
  std::vector<RuleRef> redundant_;
};

}  // namespace

void without_effect(Context& context, Findings& out) {
  if (context.reach.empty())
    return;
  Redundant redundant(context, out);
  for (Index chain = 0; chain < context.ruleset.chains.size(); ++chain)
    if (context.reach[chain].used)
      redundant.chain(chain);
  redundant.tell();
}

}  // namespace bulkhead::compiler::lint
