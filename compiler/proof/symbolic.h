// A ruleset as functions from packets to endings: every chain evaluated once, for all packets, from
// its leaves up; who jumps to it uses the result. The answers are those of interpret(), which walks
// one packet through the same rules.
//
// The kernel's connection tracking is part of the packet: its state, direction and tuples are
// fields. A translation changes the addresses that later chains read; of packets of a connection
// translated before, the new address is taken as not known (hook() says more).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "compiler/proof/diagram.h"
#include "compiler/proof/ending.h"
#include "compiler/proof/ruleset.h"

namespace bulkhead::compiler::proof {

// Whether endings tell the rule that decided (Way::by): then packets that end alike for different
// reasons are told apart, and the diagrams are larger.
enum class Attribution : std::uint8_t { None, Rules };

class Symbolic {
 public:
  // `ruleset` has passed check_jumps() (parse_ruleset does it). All three must outlive this. A
  // Diagrams and its Endings serve several rulesets: what is equal there is the same handle.
  // With Attribution::Rules the Endings are nobody else's.
  Symbolic(Diagrams& space, Endings& endings, const Ruleset& ruleset,
           Attribution attribution = Attribution::None);

  // Where its rules say nothing the packet continues. The terminals are numbers of `endings`.
  Diagram chain(Index chain);
  // With its policy, on its devices and for the packets of its family: drops and rejects are final,
  // all else continues.
  Diagram base_chain(Index chain);
  // All base chains that packets of a family meet at a hook, in order; for Inet, of both IP
  // families. What continues is accepted here.
  Diagram hook(TableFamily family, Hook hook);
  // Hooks one after the other: marks set before are read behind.
  Diagram way(std::span<const Station> stations);

  // One rule by itself: Continue where it is left, Done where all of it is run, Jump and Goto where
  // it sends packets to another chain.
  Diagram alone(RuleRef ref);
  // One rule with the chains that it leads to: Continue where it decides nothing.
  Diagram rule(RuleRef ref);
  // What a chain's rules from each one on do with a packet that comes to it; behind the last one:
  // Continue. A rule more than the chain has.
  std::vector<Diagram> from_each(Index chain);
  // `f` of packets in which `changes` have been made.
  Diagram changed(const Changes& changes, Diagram f);
  // The packets that are in the set once `changes` have been made, or may be.
  Diagram may_be_in(Diagram set, const Changes& changes);
  // `f` where packets end so, ending otherwise.
  Diagram renamed(Diagram f, End from, End to);

  // Pairs of base chains of equal priority whose order, which no kernel promises, changes an
  // answer.
  std::vector<std::pair<Index, Index>> ambiguous_order(TableFamily family, Hook hook);

 private:
  Diagram of(End end) const { return space_.constant(Endings::of(end)); }
  Diagram decided(End end);
  Diagram decided_before(const std::optional<RuleRef>& by, Diagram then);
  [[nodiscard]] int weight(const RuleRef& decider) const;
  Diagram rule(RuleRef ref, const Rule& rule, End done = End::Continue);
  Diagram statement(const Statement& what, Diagram rest);
  Diagram statement(const Match& match, Diagram rest);
  Diagram statement(const Decide& decide, Diagram rest) { return follow(decide.verdict, rest); }
  Diagram statement(const VerdictMap& map, Diagram rest);
  Diagram statement(const Assign& assign, Diagram rest);
  Diagram statement(const Nat& nat, Diagram rest);
  Diagram statement(const Maybe&, Diagram rest) { return either(rest, of(End::Continue), false); }
  Diagram statement(const Notrack&, Diagram rest);
  Diagram statement(const FlowOffload&, Diagram rest) { return rest; }
  Diagram statement(const NoEffect&, Diagram rest) { return rest; }
  Diagram statement(const UpdateSet& update, Diagram rest);
  Diagram statement(const Unmodelled& unmodelled, Diagram rest);

  Diagram follow(const Verdict& verdict, Diagram rest);
  Diagram not_known() const;
  Diagram either(Diagram a, Diagram b, bool unknown);
  Diagram behind(const Changes& changes, Diagram f,
                 const std::function<Terminal(const RuleRef&, Terminal, Terminal)>& join);
  Diagram then(Diagram first, Diagram second);
  Diagram readable(const Operand& operand);
  Diagram readable(const Operands& key);
  // `result` of the element that holds the key, else `missing`; `unknown` where that cannot be
  // told.
  Diagram look_up(const Operands& key, const Set& set, Diagram missing, Diagram unknown,
                  const std::function<Diagram(const Element&)>& result);
  // What a statement takes from its source: constants, a field, or something not known.
  struct Taken {
    std::vector<ValueRange> values;
    const Operand* operand = nullptr;
  };
  // `use` of what is taken, for each packet; where nothing can be read the rule ends.
  Diagram take(const Source& source, const std::function<Diagram(const Taken&)>& use);
  Change change_of(Field field, const Taken& taken, std::size_t component) const;
  Diagram translate(const Nat& nat, const Taken& address, const Taken& port);
  Diagram base_rules(Index chain);
  Diagram nat_chains(std::span<const Index> chains);
  Diagram translated_before(Hook hook);
  Diagram before_conntrack(Diagram f);
  Diagram at_hook(TableFamily family, Hook hook);

  Diagrams& space_;
  Endings& endings_;
  const Ruleset& ruleset_;
  Attribution attribution_;
  std::vector<std::optional<Diagram>> chains_;
  std::map<std::pair<Selector, Base>, Diagram> readable_;
  RuleRef at_;          // the rule under evaluation
  bool alone_ = false;  // other chains are not looked into
};

}  // namespace bulkhead::compiler::proof
