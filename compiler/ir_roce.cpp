#include "compiler/ir_roce.h"

#include <tuple>

#include "compiler/disjoint.h"

namespace bulkhead::compiler::ir {

namespace {

using Rules = std::vector<std::string>;

// Equal targets share a chain.
class Targets {
 public:
  explicit Targets(std::vector<RoceTarget>& targets) : targets_(targets) {}

  Index intern(const RoceTarget& target) {
    const auto copy = [](const Rules* rules) { return rules ? *rules : Rules{}; };
    const auto [at, is_new] =
        known_.try_emplace({target.leg, target.everything, copy(target.requests),
                            copy(target.answers), copy(target.denied)},
                           static_cast<Index>(targets_.size()));
    if (is_new)
      targets_.push_back(target);
    return at->second;
  }

 private:
  std::vector<RoceTarget>& targets_;
  std::map<std::tuple<Index, bool, Rules, Rules, Rules>, Index> known_;
};

}  // namespace

void RocePairs::say(const policy::Cell& cell, const policy::Piece& piece) {
  RoceTarget& forth = pairs_[{cell.from, cell.to}];
  if (piece.action == policy::Action::Deny) {
    forth.denied = &piece.rules;
    return;
  }
  forth.requests = &piece.rules;
  pairs_[{cell.to, cell.from}].answers = &piece.rules;
}

void RocePairs::finish(const std::vector<policy::Class>& classes,
                       const std::vector<Index>& source_of, const std::vector<Index>& leg_of,
                       Enforcer& out) {
  Targets targets(out.roce);
  std::vector<std::vector<Claim<Address, Index>>> claims(out.sources.size());
  for (auto& [pair, target] : pairs_) {
    const Index source = source_of[pair.first];
    target.leg = leg_of[pair.second];
    const Index index = targets.intern(target);
    for (const AddressRange& range : classes[pair.second].addresses)
      if (bit(range.first.family) & families_of(classes[pair.first]))
        claims[source].push_back({range, index});
  }
  for (Index source = 0; source < out.sources.size(); ++source)
    for (auto& [range, values] : disjoint(std::move(claims[source])))
      out.sources[source].roce.push_back({range, std::move(values)});
}

}  // namespace bulkhead::compiler::ir
