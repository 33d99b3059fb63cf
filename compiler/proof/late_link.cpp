#include "compiler/proof/late_link.h"

#include <algorithm>

namespace bulkhead::compiler::proof {

namespace {

bool is_link(const Operand& operand) {
  return (operand.selector == Selector::Raw ? operand.place.base : info(operand.selector).base) ==
         Base::Link;
}

bool asks_link(const Operands& key) {
  return std::any_of(key.begin(), key.end(), is_link);
}

bool asks_link(const Source& source) {
  const auto* operand = std::get_if<Operand>(&source);
  const auto* lookup = std::get_if<Lookup>(&source);
  return (operand != nullptr && is_link(*operand)) || (lookup != nullptr && asks_link(lookup->key));
}

struct AsksLink {
  bool operator()(const Match& match) const { return asks_link(match.key); }
  bool operator()(const VerdictMap& map) const { return asks_link(map.key); }
  bool operator()(const Assign& assign) const { return asks_link(assign.value); }
  bool operator()(const UpdateSet& update) const { return asks_link(update.key); }
  bool operator()(const Nat& nat) const {
    return (nat.address && asks_link(*nat.address)) || (nat.port && asks_link(*nat.port));
  }
  template <class Other>
  bool operator()(const Other&) const {
    return false;
  }
};

class Walk {
 public:
  explicit Walk(const Ruleset& ruleset)
      : ruleset_(ruleset), reached_(ruleset.chains.size(), false) {}

  void visit(Index chain) {
    if (chain == kNone || reached_[chain])
      return;
    reached_[chain] = true;
    for (const Rule& rule : ruleset_.chains[chain].rules)
      for (const Statement& statement : rule.statements) {
        if (const auto* decide = std::get_if<Decide>(&statement))
          visit(decide->verdict.chain);
        if (const auto* map = std::get_if<VerdictMap>(&statement))
          for (const Element& element : ruleset_.sets[map->set].elements)
            if (const auto* verdict = std::get_if<Verdict>(&element.data))
              visit(verdict->chain);
      }
  }
  [[nodiscard]] bool reached(Index chain) const { return reached_[chain]; }

 private:
  const Ruleset& ruleset_;
  std::vector<bool> reached_;
};

}  // namespace

void mark_late_link(Ruleset& ruleset) {
  Walk walk(ruleset);
  for (Index chain = 0; chain < ruleset.chains.size(); ++chain) {
    const auto& base = ruleset.chains[chain].base;
    if (base && (base->hook == Hook::Postrouting || base->hook == Hook::Egress))
      walk.visit(chain);
  }
  for (Index chain = 0; chain < ruleset.chains.size(); ++chain) {
    if (!walk.reached(chain))
      continue;
    for (Rule& rule : ruleset.chains[chain].rules)
      if (std::any_of(rule.statements.begin(), rule.statements.end(),
                      [](const Statement& what) { return std::visit(AsksLink{}, what); }))
        rule.statements.insert(
            rule.statements.begin(),
            Unmodelled{
                Unmodelled::Kind::Condition, {}, "the link header is not certain behind routing"});
  }
}

}  // namespace bulkhead::compiler::proof
