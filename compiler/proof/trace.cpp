#include "compiler/proof/trace.h"

#include <algorithm>
#include <map>
#include <optional>

#include "compiler/proof/priorities.h"

namespace bulkhead::compiler::proof {

namespace {

bool is_translated(const Way& way) {
  return std::any_of(way.changes.begin(), way.changes.end(), [](const Change& made) {
    return made.field == Field::CtReplySource4 && made.by.chain != kNone;
  });
}

// What the kernel does not show to chains at this place; taken away before a chain and given back
// behind it.
Changes hidden_at(Hook hook, std::int32_t priority) {
  Changes hidden;
  if (hook == Hook::Output)
    hidden.push_back(change(Field::InInterface, 0));
  if (hook == Hook::Ingress || hook == Hook::Prerouting || hook == Hook::Input)
    hidden.push_back(change(Field::OutInterface, 0));
  const bool starts = hook == Hook::Prerouting || hook == Hook::Output;
  if (hook == Hook::Ingress || (starts && priority < kConntrack))
    hidden.push_back(change(Field::CtState, static_cast<Value>(CtState::Invalid)));
  return hidden;
}

class Tracer {
 public:
  Tracer(Diagrams& space, Endings& endings, Symbolic& rules, const Ruleset& ruleset,
         std::size_t limit)
      : space_(space),
        rules_(rules),
        ruleset_(ruleset),
        limit_(limit),
        splitter_(space, endings, rules) {}

  Trace go(std::span<const Station> way, Diagram asked) {
    alive_.add(space_, {asked, {}, Doubt::None});
    for (const Station& station : way)
      pass(station);
    out_.arrives = alive_.packets(space_);
    return std::move(out_);
  }

 private:
  // What comes of strands in a chain; what is dropped is in no one of them.
  struct Ends {
    Strands on;        // no rule decided, or one returned them
    Strands accepted;  // by a rule
  };

  Diagram family(TableFamily of) {
    const Value value = of == TableFamily::Ip ? kIpv4 : of == TableFamily::Ip6 ? kIpv6 : kArp;
    return of == TableFamily::Inet ? space_.in(Field::Family, {kIpv4, kIpv6})
           : of == TableFamily::Bridge || of == TableFamily::Netdev
               ? space_.everything()
               : space_.equal(Field::Family, value);
  }

  // Chains of both IP families, for Inet.
  std::vector<Index> chains(const Station& station) const {
    if (station.family != TableFamily::Inet)
      return chains_at(ruleset_, station.family, station.hook);
    std::vector<Index> all = chains_at(ruleset_, TableFamily::Ip, station.hook);
    for (const Index chain : chains_at(ruleset_, TableFamily::Ip6, station.hook))
      if (std::find(all.begin(), all.end(), chain) == all.end())
        all.push_back(chain);
    std::sort(all.begin(), all.end());  // equal ones in order of listing
    std::stable_sort(all.begin(), all.end(), [&](Index a, Index b) {
      const BaseChain &x = *ruleset_.chains[a].base, &y = *ruleset_.chains[b].base;
      return std::pair(effective_priority(x), x.priority) <
             std::pair(effective_priority(y), y.priority);
    });
    return all;
  }

  void pass(const Station& station) {
    hook_ = station.hook;
    const bool has_nat = std::any_of(
        ruleset_.chains.begin(), ruleset_.chains.end(),
        [](const Chain& chain) { return chain.base && chain.base->type == ChainType::Nat; });
    bool translated =
        !has_nat || hook_ == Hook::Ingress || hook_ == Hook::Egress || hook_ == Hook::Forward;
    const std::int32_t translation =
        hook_ == Hook::Postrouting || hook_ == Hook::Input ? 100 : -100;
    Strands beside;  // translated by an earlier nat chain of this place: no other one sees them
    for (const Index chain : chains(station)) {
      const BaseChain& base = *ruleset_.chains[chain].base;
      const std::int32_t priority = effective_priority(base);
      if (!translated && priority >= translation) {
        translate_known();
        translated = true;
      }
      if (base.type != ChainType::Nat) {
        alive_.add(space_, beside);
        beside = {};
      }
      base_chain(chain, hidden_at(hook_, priority), beside);
    }
    alive_.add(space_, beside);
    if (!translated)
      translate_known();
  }

  // Packets of a connection that its first one had translated: to what, the packet does not say.
  void translate_known() {
    const bool is_source = hook_ == Hook::Postrouting || hook_ == Hook::Input;
    const Changes moved =
        is_source ? Changes{change(Field::Source4, {}), change(Field::Source6, {}),
                            change(Field::SourcePort, {})}
                  : Changes{change(Field::Destination4, {}), change(Field::Destination6, {}),
                            change(Field::DestinationPort, {})};
    const Diagram touched = space_.subtract(
        space_.in(Field::CtState,
                  {static_cast<Value>(CtState::New), static_cast<Value>(CtState::Related)}),
        space_.masked(space_.equal(Field::CtStatus, 0), Field::CtStatus, kStatusSnat | kStatusDnat,
                      0));
    Strands next;
    for (const Strand& strand : alive_) {
      const Diagram seen = rules_.may_be_in(touched, strand.changes);
      next.add(space_, {space_.subtract(strand.packets, seen), strand.changes, strand.doubt});
      next.add(space_, {space_.intersect(strand.packets, seen), after(strand.changes, moved),
                        strand.doubt});
    }
    alive_ = std::move(next);
  }

  void base_chain(Index index, const Changes& hidden, Strands& beside) {
    const Chain& chain = ruleset_.chains[index];
    const Table& table = ruleset_.table_of(chain);
    if (table.dormant)
      return;
    Strands here, others;
    const Diagram concerned = concerns(chain, table);
    for (const Strand& strand : alive_) {
      const Changes seen = after(strand.changes, hidden);
      const Diagram in = rules_.may_be_in(concerned, seen);
      here.add(space_, {space_.intersect(strand.packets, in), seen, strand.doubt});
      others.add(space_, {space_.subtract(strand.packets, in), strand.changes, strand.doubt});
    }
    const bool perhaps = table.maybe_dormant || has_unlisted_devices(*chain.base);
    if (perhaps) {
      Strands doubted;
      for (const Strand& strand : here) {
        doubted.add(space_, {strand.packets, strand.changes, Doubt::Unknown});
        others.add(space_, {strand.packets, shown(strand.changes, hidden), Doubt::Unknown});
      }
      here = std::move(doubted);
    }
    if (here.empty())
      return;
    Ends ends = visit(index, here, 0);
    if (!ends.on.empty())
      step({hook_,
            index,
            kNone,
            0,
            chain.base->policy_drop ? End::Drop : End::Accept,
            kNone,
            {},
            {},
            Doubt::None},
           ends.on);
    if (!chain.base->policy_drop)
      ends.accepted.add(space_, ends.on);
    for (const Strand& strand : ends.accepted) {
      const Strand given{strand.packets, shown(strand.changes, hidden), strand.doubt};
      Way way;
      way.changes = given.changes;
      (chain.base->type == ChainType::Nat && is_translated(way) ? beside : others)
          .add(space_, given);
    }
    alive_ = std::move(others);
  }

  Diagram concerns(const Chain& chain, const Table& table) {
    Diagram set = family(table.family);
    if (chain.base->type == ChainType::Nat)
      set = space_.intersect(set, space_.equal(Field::CtState, static_cast<Value>(CtState::New)));
    const bool ingress = chain.base->hook == Hook::Ingress;
    if ((ingress || chain.base->hook == Hook::Egress) && !chain.base->devices.empty()) {
      std::vector<ValueRange> names;
      for (const std::string& device : chain.base->devices)
        names.push_back({interface_name(device), interface_name(device)});
      set = space_.intersect(
          set, space_.in(ingress ? Field::InInterface : Field::OutInterface, std::move(names)));
    }
    return set;
  }

  static bool has_unlisted_devices(const BaseChain& base) {
    return (base.hook == Hook::Ingress || base.hook == Hook::Egress) && base.devices.empty();
  }

  // Behind the chain the packet is again what the kernel knows of it, but for what rules changed.
  static Changes shown(Changes changes, const Changes& hidden) {
    std::erase_if(changes, [&](const Change& made) {
      return std::find(hidden.begin(), hidden.end(), made) != hidden.end();
    });
    return changes;
  }

  Ends visit(Index index, const Strands& in, unsigned depth) {
    Ends out;
    Strands here = in;
    const auto rules = static_cast<Index>(ruleset_.chains[index].rules.size());
    for (Index rule = 0; rule < rules && !here.empty(); ++rule) {
      Strands next;
      std::map<std::pair<End, Index>, Strands> does;
      for (const Strand& strand : here)
        for (Passing& passing : splitter_.split(alone({index, rule}), strand)) {
          // A rule that is left half-way may have marked the packet before.
          const bool is_left =
              passing.way.end == End::Continue && passing.way.changes == strand.changes;
          const End end = passing.way.end == End::Continue ? End::Done : passing.way.end;
          Strands& into = is_left ? next : does[{end, passing.way.to}];
          into.add(space_, std::move(passing.strand));
        }
      for (const auto& [what, strands] : does) {
        step({hook_, index, rule, depth, what.first, what.second, {}, {}, Doubt::None}, strands);
        follow(what.first, what.second, strands, depth, next, out);
      }
      here = std::move(next);
    }
    out.on.add(space_, here);
    return out;
  }

  // Where a rule's verdict leads: to the next rule, out of the chain, or to the end of all.
  void follow(End end, Index to, const Strands& strands, unsigned depth, Strands& next, Ends& out) {
    switch (end) {
      case End::Done:
        next.add(space_, strands);
        break;
      case End::Accept:
        out.accepted.add(space_, strands);
        break;
      case End::Return:
        out.on.add(space_, strands);
        break;
      case End::Jump:
      case End::Goto: {
        const Ends inner = out_.complete ? visit(to, strands, depth + 1) : pass_unseen(to, strands);
        (end == End::Jump ? next : out.on).add(space_, inner.on);
        out.accepted.add(space_, inner.accepted);
        break;
      }
      case End::Drop:
      case End::Reject:
      case End::Queue:
      case End::Unknown:
      case End::Continue:
        break;
    }
  }

  // The same answer without a step of it.
  Ends pass_unseen(Index chain, const Strands& in) {
    Ends out;
    for (const Strand& strand : in)
      for (const Passing& passing : splitter_.split(rules_.chain(chain), strand)) {
        if (passing.way.end == End::Continue || passing.way.end == End::Return)
          out.on.add(space_, passing.strand);
        else if (passing.way.end == End::Accept)
          out.accepted.add(space_, passing.strand);
      }
    return out;
  }

  Diagram alone(RuleRef ref) {
    const auto [found, is_new] = alone_.try_emplace(ref);
    if (is_new)
      found->second = rules_.alone(ref);
    return found->second;
  }

  void step(TraceStep made, const Strands& strands) {
    if (out_.steps.size() >= limit_) {
      out_.complete = false;
      return;
    }
    made.packets = strands.packets(space_);
    made.changes = strands.begin()->changes;
    for (const Strand& strand : strands) {
      made.doubt = std::max(made.doubt, strand.doubt);
      if (strand.changes != made.changes)
        made.changes.clear();
    }
    if (made.end == End::Unknown)
      made.doubt = Doubt::Unknown;
    out_.steps.push_back(std::move(made));
  }

  Diagrams& space_;
  Symbolic& rules_;
  const Ruleset& ruleset_;
  std::size_t limit_;
  Splitter splitter_;
  std::map<RuleRef, Diagram> alone_;
  Strands alive_;
  Hook hook_ = Hook::Forward;
  Trace out_;
};

}  // namespace

Trace trace(Diagrams& space, Endings& endings, Symbolic& rules, const Ruleset& ruleset,
            std::span<const Station> way, Diagram asked, std::size_t limit) {
  return Tracer(space, endings, rules, ruleset, limit).go(way, asked);
}

}  // namespace bulkhead::compiler::proof
