#include "compiler/proof/reach.h"

#include <algorithm>

#include "compiler/proof/priorities.h"
#include "compiler/proof/prove.h"

namespace bulkhead::compiler::proof {

namespace {

constexpr Hook kHooks[] = {Hook::Ingress, Hook::Prerouting,  Hook::Input, Hook::Forward,
                           Hook::Output,  Hook::Postrouting, Hook::Egress};
constexpr TableFamily kFamiliesOfHooks[] = {TableFamily::Ip, TableFamily::Ip6, TableFamily::Bridge,
                                            TableFamily::Netdev, TableFamily::Arp};
constexpr Field kTranslated[] = {Field::Source4,      Field::Source6,    Field::Destination4,
                                 Field::Destination6, Field::SourcePort, Field::DestinationPort};

class Reaching {
 public:
  Reaching(Diagrams& space, Endings& endings, Symbolic& rules, const Ruleset& ruleset,
           const Progress& progress)
      : space_(space),
        rules_(rules),
        ruleset_(ruleset),
        progress_(progress),
        splitter_(space, endings, rules),
        chains_(ruleset.chains.size()),
        lost_(ruleset.chains.size()) {}

  std::vector<ChainReach> run() {
    for (Index i = 0; i < chains_.size(); ++i) {
      chains_[i].comes.resize(ruleset_.chains[i].rules.size());
      chains_[i].hit.resize(ruleset_.chains[i].rules.size());
      if (ruleset_.chains[i].base)
        use(i);
    }
    for (const Hook hook : kHooks)
      for (const TableFamily family : kFamiliesOfHooks)
        enter(family, hook);
    // Who jumps comes before where he jumps to.
    std::reverse(order_.begin(), order_.end());
    for (const Index chain : order_)
      walk(chain);
    return std::move(chains_);
  }

 private:
  void use(Index chain) {
    if (chains_[chain].used)
      return;
    chains_[chain].used = true;
    for (const Rule& rule : ruleset_.chains[chain].rules)
      for (const Index to : targets(ruleset_, rule))
        use(to);
    order_.push_back(chain);
  }

  // ---- base chains

  Diagram possible_at(TableFamily family, Hook hook, bool sees_state) {
    if (family == TableFamily::Bridge || family == TableFamily::Netdev)
      return space_.everything();
    if (family == TableFamily::Arp)
      return space_.equal(Field::Family, kArp);
    Diagram set = space_.equal(Field::Family, family == TableFamily::Ip ? kIpv4 : kIpv6);
    if (hook == Hook::Forward)
      return space_.intersect(set, space_.intersect(possible(space_, ruleset_, Passage::Forward),
                                                    space_.equal(Field::LocalSocket, 0)));
    if (hook == Hook::Input)
      return space_.intersect(set, possible(space_, ruleset_, Passage::Input));
    const Diagram no_in = space_.equal(Field::InInterface, 0);
    const Diagram no_out = space_.equal(Field::OutInterface, 0);
    if (hook == Hook::Prerouting)
      set = space_.intersect(set, space_.subtract(no_out, no_in));
    else if (hook == Hook::Output)
      set = space_.intersect(set, space_.subtract(no_in, no_out));
    else
      set = space_.subtract(set, no_out);
    if (!sees_state)
      set = space_.intersect(set,
                             space_.in(Field::CtState, {static_cast<Value>(CtState::Invalid),
                                                        static_cast<Value>(CtState::Untracked)}));
    return set;
  }

  void enter(TableFamily family, Hook hook) {
    const auto chains = chains_at(ruleset_, family, hook);
    const bool starts = hook == Hook::Prerouting || hook == Hook::Output;
    const auto order = [&](Index chain) {
      const BaseChain& base = *ruleset_.chains[chain].base;
      return std::pair(effective_priority(base), base.priority);
    };
    bool saw_state = false;
    Diagram here;
    for (std::size_t i = 0; i < chains.size();) {
      const bool sees_state = !starts || order(chains[i]).first >= kConntrack;
      const Diagram fresh = possible_at(family, hook, sees_state);
      if (i == 0 || sees_state != saw_state)
        here = fresh;
      saw_state = sees_state;
      // Among equals each may be the first.
      std::size_t behind = i;
      Diagram left = here;
      for (; behind < chains.size() && order(chains[behind]) == order(chains[i]); ++behind) {
        chains_[chains[behind]].entry.add(space_, {here, {}, Doubt::None});
        left = survivors(chains[behind], left, fresh, hook);
      }
      here = left;
      i = behind;
    }
  }

  // What goes on behind a base chain; of what rules change in it, anything.
  Diagram survivors(Index chain, Diagram here, Diagram fresh, Hook hook) {
    Diagram out = space_.nothing();
    for (const Passing& passing :
         splitter_.split(rules_.base_chain(chain), {here, {}, Doubt::None})) {
      if (passing.way.end == End::Unknown)
        return fresh;
      if (passing.way.end == End::Drop || passing.way.end == End::Reject)
        continue;
      Diagram set = passing.strand.packets;
      for (const Change& change : passing.way.changes)
        set = space_.exists(set, change.field);
      out = space_.unite(out, set);
    }
    const bool translates =
        hook != Hook::Forward &&
        std::any_of(ruleset_.chains.begin(), ruleset_.chains.end(), [](const Chain& other) {
          return other.base && other.base->type == ChainType::Nat;
        });
    if (translates)
      for (const Field field : kTranslated)
        out = space_.exists(out, field);
    return out;
  }

  // ---- rules

  void walk(Index index) {
    ChainReach& chain = chains_[index];
    const auto& rules = ruleset_.chains[index].rules;
    Strands here = chain.entry;
    for (Index i = 0; i < rules.size(); ++i, ++done_) {
      if (progress_ && done_ % 64 == 0)
        progress_(done_);
      if (!lost_[index]) {
        chain.comes[i] = here;
        here = pass({index, i}, here);
      }
      if (!lost_[index])
        continue;
      // Nobody knows what a packet is here, or whether it comes: any rule may match.
      chain.hit[i] = true;
      for (const Index to : targets(ruleset_, rules[i]))
        lost_[to] = true;
    }
  }

  Strands pass(RuleRef ref, const Strands& here) {
    Strands next;
    if (here.empty())
      return next;
    const Diagram does = rules_.alone(ref);
    for (const Strand& strand : here)
      for (const Passing& passing : splitter_.split(does, strand)) {
        // A rule that is left half-way may have marked the packet before.
        if (passing.way.end != End::Continue || passing.way.changes != strand.changes)
          chains_[ref.chain].hit[ref.rule] = true;
        follow(ref.chain, passing, next);
      }
    return next;
  }

  void follow(Index chain, const Passing& passing, Strands& next) {
    switch (passing.way.end) {
      case End::Continue:
      case End::Done:
        next.add(space_, passing.strand);
        break;
      case End::Jump:
        chains_[passing.way.to].entry.add(space_, passing.strand);
        for (const Passing& back : splitter_.split(rules_.chain(passing.way.to), passing.strand)) {
          if (back.way.end == End::Continue || back.way.end == End::Return)
            next.add(space_, back.strand);
          if (back.way.end == End::Unknown)
            lost_[chain] = true;
        }
        break;
      case End::Goto:
        chains_[passing.way.to].entry.add(space_, passing.strand);
        break;
      case End::Unknown:
        lost_[chain] = true;
        break;
      case End::Drop:
      case End::Accept:
      case End::Return:
      case End::Reject:
      case End::Queue:
        break;
    }
  }

  Diagrams& space_;
  Symbolic& rules_;
  const Ruleset& ruleset_;
  const Progress& progress_;
  Splitter splitter_;
  std::vector<ChainReach> chains_;
  std::vector<bool> lost_;  // by chain, from the rule on that is being walked
  std::vector<Index> order_;
  std::size_t done_ = 0;
};

}  // namespace

std::vector<Index> targets(const Ruleset& ruleset, const Rule& rule) {
  std::vector<Index> out;
  const auto add = [&](const Verdict& verdict) {
    if (verdict.chain != kNone)
      out.push_back(verdict.chain);
  };
  for (const Statement& statement : rule.statements) {
    if (const auto* decide = std::get_if<Decide>(&statement))
      add(decide->verdict);
    if (const auto* map = std::get_if<VerdictMap>(&statement))
      for (const Element& element : ruleset.sets[map->set].elements)
        if (const auto* verdict = std::get_if<Verdict>(&element.data))
          add(*verdict);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<ChainReach> reach(Diagrams& space, Endings& endings, Symbolic& rules,
                              const Ruleset& ruleset, const Progress& progress) {
  return Reaching(space, endings, rules, ruleset, progress).run();
}

}  // namespace bulkhead::compiler::proof
