#include "compiler/proof/jumps.h"

#include <algorithm>

namespace bulkhead::compiler::proof {

namespace {

void add_targets_of(const Set& set, std::vector<Index>& targets) {
  for (const Element& element : set.elements)
    if (const auto* verdict = std::get_if<Verdict>(&element.data))
      if (verdict->chain != kNone)
        targets.push_back(verdict->chain);
}

std::vector<Index> targets_of(const Chain& chain, const std::vector<std::vector<Index>>& by_set) {
  std::vector<Index> targets;
  for (const Rule& rule : chain.rules)
    for (const Statement& statement : rule.statements) {
      if (const auto* decide = std::get_if<Decide>(&statement)) {
        if (decide->verdict.chain != kNone)
          targets.push_back(decide->verdict.chain);
      } else if (const auto* map = std::get_if<VerdictMap>(&statement)) {
        targets.insert(targets.end(), by_set[map->set].begin(), by_set[map->set].end());
      }
    }
  std::sort(targets.begin(), targets.end());
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  return targets;
}

// Depth first without recursion: a hostile listing may be deeper than the stack.
class Walk {
 public:
  explicit Walk(const Ruleset& ruleset) : ruleset_(ruleset), marks_(ruleset.chains.size()) {
    std::vector<std::vector<Index>> by_set(ruleset.sets.size());
    for (std::size_t i = 0; i < ruleset.sets.size(); ++i) {
      add_targets_of(ruleset.sets[i], by_set[i]);
      std::sort(by_set[i].begin(), by_set[i].end());
      by_set[i].erase(std::unique(by_set[i].begin(), by_set[i].end()), by_set[i].end());
    }
    for (std::size_t i = 0; i < marks_.size(); ++i)
      marks_[i].targets = targets_of(ruleset.chains[i], by_set);
  }

  Status from(Index chain) {
    if (marks_[chain].state != State::New)
      return {};
    path_.assign(1, chain);
    marks_[chain].state = State::OnPath;
    while (!path_.empty()) {
      Mark& mark = marks_[path_.back()];
      if (mark.next == mark.targets.size()) {
        mark.state = State::Done;
        for (const Index target : mark.targets)
          mark.depth = std::max(mark.depth, marks_[target].depth + 1);
        path_.pop_back();
        continue;
      }
      const Index target = mark.targets[mark.next++];
      if (marks_[target].state == State::OnPath)
        return fail(ErrorKind::Environment, "chain " + chain_name(ruleset_, target) +
                                                " jumps back to itself: no kernel lists that");
      if (marks_[target].state == State::New) {
        marks_[target].state = State::OnPath;
        path_.push_back(target);
      }
    }
    return {};
  }

  [[nodiscard]] unsigned depth(Index chain) const { return marks_[chain].depth; }

 private:
  enum class State : std::uint8_t { New, OnPath, Done };
  struct Mark {
    std::vector<Index> targets;
    std::size_t next = 0;
    unsigned depth = 0;
    State state = State::New;
  };
  const Ruleset& ruleset_;
  std::vector<Mark> marks_;
  std::vector<Index> path_;
};

}  // namespace

Status check_jumps(const Ruleset& ruleset) {
  Walk walk(ruleset);
  for (Index chain = 0; chain < ruleset.chains.size(); ++chain) {
    if (const Status walked = walk.from(chain); !walked)
      return walked;
    if (ruleset.chains[chain].base && walk.depth(chain) > kDeepestJump)
      return fail(ErrorKind::Environment, "jumps from chain " + chain_name(ruleset, chain) +
                                              " are deeper than " + std::to_string(kDeepestJump) +
                                              ": no kernel lists that");
  }
  return {};
}

}  // namespace bulkhead::compiler::proof
