// Rules in a row, many at once: one walk over all of them makes only the nodes of the answer, where
// pairs of pairs would make those of each half as well.
#include <algorithm>
#include <unordered_map>

#include "compiler/proof/diagram.h"
#include "compiler/proof/diagram_scratch.h"

namespace bulkhead::compiler::proof {

using detail::Index;
using detail::is_terminal;

namespace {

// Rows in one walk. Each step looks at all of them, and two walks that differ in one row share
// nothing; so not too many (measured: docs/adr/0004-packet-sets.md).
constexpr std::size_t kRowsAtOnce = 32;

struct HashOfRow {
  std::size_t operator()(const std::vector<Index>& row) const {
    std::uint64_t hash = row.size();
    for (const Index f : row) {
      hash = (hash ^ f) * 0xff51afd7ed558ccdu;
      hash ^= hash >> 32;
    }
    return static_cast<std::size_t>(hash);
  }
};

}  // namespace

class Diagrams::RowFill {
 public:
  RowFill(Diagrams& space, Index hole) : space_(space), hole_(hole) {}

  // Takes the row's rest off the stack, which it is on top of.
  Index fill(std::size_t begin) {
    shorten(begin);
    const std::size_t count = stack_.size() - begin;
    if (count <= 2) {
      const Index first = count > 0 ? stack_[begin] : hole_;
      const Index second = count > 1 ? stack_[begin + 1] : hole_;
      stack_.resize(begin);
      return space_.fill(Diagram(first), hole_ & ~detail::kTerminalBit, Diagram(second)).index_;
    }
    std::vector<Index> row(stack_.begin() + static_cast<std::ptrdiff_t>(begin), stack_.end());
    stack_.resize(begin);
    if (const auto known = known_.find(row); known != known_.end())
      return known->second;
    const Index made = walk(row);
    known_.emplace(std::move(row), made);
    return made;
  }

  void push(Index f) { stack_.push_back(f); }
  [[nodiscard]] std::size_t size() const { return stack_.size(); }

 private:
  // Without what decides nothing: holes, what stands there already, what is behind a constant.
  void shorten(std::size_t begin) {
    std::size_t end = begin;
    for (std::size_t i = begin; i < stack_.size(); ++i) {
      const Index f = stack_[i];
      const auto kept = stack_.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto last = stack_.begin() + static_cast<std::ptrdiff_t>(end);
      if (f == hole_ || std::find(kept, last, f) != last)
        continue;
      stack_[end++] = f;
      if (is_terminal(f))
        break;
    }
    stack_.resize(end);
  }

  Index walk(const std::vector<Index>& row) {
    space_.count_step();
    std::uint16_t level = detail::NodeTable::kTerminalLevel;
    for (const Index f : row)
      level = std::min(level, space_.nodes_.level(f));
    const std::uint16_t max = space_.levels_[level].max;
    std::vector<std::uint16_t> at(row.size());  // the edge that each one is at
    std::vector<std::uint16_t> ends(row.size());
    Scratch scratch(space_.scratch_);
    for (;;) {
      std::uint16_t last = max;
      const std::size_t begin = stack_.size();
      for (std::size_t i = 0; i < row.size(); ++i) {
        ends[i] = max;
        Index child = row[i];
        if (space_.nodes_.level(row[i]) == level) {
          const Edge edge = space_.nodes_.edge(row[i], at[i]);
          child = edge.child;
          ends[i] = edge.last;
          last = std::min(last, edge.last);
        }
        stack_.push_back(child);
      }
      const Index child = fill(begin);
      scratch.push(child, last);
      if (last == max)
        break;
      for (std::size_t i = 0; i < row.size(); ++i)
        at[i] = static_cast<std::uint16_t>(at[i] + (ends[i] == last ? 1 : 0));
    }
    return space_.make(level, scratch.edges());
  }

  Diagrams& space_;
  Index hole_;
  std::vector<Index> stack_;  // the rows under way
  std::unordered_map<std::vector<Index>, Index, HashOfRow> known_;
};

Diagram Diagrams::fill(std::span<const Diagram> row, Terminal hole) {
  std::vector<Diagram> left(row.begin(), row.end());
  if (left.empty())
    return constant(hole);
  while (left.size() > 1) {
    std::size_t made = 0;
    for (std::size_t first = 0; first < left.size(); first += kRowsAtOnce) {
      RowFill walk(*this, constant(hole).index_);
      const std::size_t end = std::min(left.size(), first + kRowsAtOnce);
      for (std::size_t i = first; i < end; ++i)
        walk.push(left[i].index_);
      left[made++] = Diagram(walk.fill(0));
    }
    left.resize(made);
  }
  return left[0];
}

}  // namespace bulkhead::compiler::proof
