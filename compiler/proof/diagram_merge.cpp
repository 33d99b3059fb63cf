// The operations: one walk over several diagrams at once, and what each operation does where it can
// tell the answer.
#include <algorithm>
#include <array>

#include "compiler/proof/diagram.h"
#include "compiler/proof/diagram_scratch.h"

namespace bulkhead::compiler::proof {

using detail::Index;
using detail::is_terminal;
using detail::kTerminalBit;
using detail::Memo;

namespace {

constexpr Index kNothing = kTerminalBit;
constexpr Index kEverything = kTerminalBit | 1;

// An operation says:
//   key(operands)     how its answer is remembered
//   answer(operands)  what it is, if that can be told without looking further; always where all
//                     operands are constants
template <std::size_t N>
using Operands = std::array<Index, N>;
using Answer = std::optional<Index>;

struct Unite {
  std::uint32_t operation;
  Memo::Key key(const Operands<2>& f) const {
    return {operation, std::min(f[0], f[1]), std::max(f[0], f[1]), 0};
  }
  Answer answer(const Operands<2>& f) const {
    if (f[0] == f[1] || f[1] == kNothing || f[0] == kEverything)
      return f[0];
    if (f[0] == kNothing || f[1] == kEverything)
      return f[1];
    return {};
  }
};

struct Intersect {
  std::uint32_t operation;
  Memo::Key key(const Operands<2>& f) const {
    return {operation, std::min(f[0], f[1]), std::max(f[0], f[1]), 0};
  }
  Answer answer(const Operands<2>& f) const {
    if (f[0] == f[1] || f[1] == kEverything || f[0] == kNothing)
      return f[0];
    if (f[0] == kEverything || f[1] == kNothing)
      return f[1];
    return {};
  }
};

struct Complement {
  std::uint32_t operation;
  Memo::Key key(const Operands<1>& f) const { return {operation, f[0], 0, 0}; }
  Answer answer(const Operands<1>& f) const {
    if (is_terminal(f[0]))
      return f[0] ^ 1;
    return {};
  }
};

struct Choose {
  std::uint32_t operation;
  Memo::Key key(const Operands<3>& f) const { return {operation, f[0], f[1], f[2]}; }
  Answer answer(const Operands<3>& f) const {
    if (f[1] == f[2] || f[0] == kEverything)
      return f[1];
    if (f[0] == kNothing)
      return f[2];
    return {};
  }
};

struct Fill {
  std::uint32_t operation;
  Index hole;
  Memo::Key key(const Operands<2>& f) const { return {operation, f[0], f[1], hole}; }
  Answer answer(const Operands<2>& f) const {
    if (f[0] == hole)
      return f[1];
    if (is_terminal(f[0]) || f[1] == hole || f[0] == f[1])
      return f[0];
    return {};
  }
};

struct Where {
  std::uint32_t operation;
  Index wanted;
  Memo::Key key(const Operands<1>& f) const { return {operation, f[0], wanted, 0}; }
  Answer answer(const Operands<1>& f) const {
    if (is_terminal(f[0]))
      return f[0] == wanted ? kEverything : kNothing;
    return {};
  }
};

struct Relabel {
  std::uint32_t operation;
  const std::function<Terminal(Terminal)>& to;
  Memo::Key key(const Operands<1>& f) const { return {operation, f[0], 0, 0}; }
  Answer answer(const Operands<1>& f) const {
    if (is_terminal(f[0]))
      return kTerminalBit | to(f[0] & ~kTerminalBit);
    return {};
  }
};

struct Apply {
  std::uint32_t operation;
  const std::function<Terminal(Terminal, Terminal)>& op;
  Memo::Key key(const Operands<2>& f) const { return {operation, f[0], f[1], 0}; }
  Answer answer(const Operands<2>& f) const {
    if (is_terminal(f[0]) && is_terminal(f[1]))
      return kTerminalBit | op(f[0] & ~kTerminalBit, f[1] & ~kTerminalBit);
    return {};
  }
};

}  // namespace

template <std::size_t N, class Op>
Index Diagrams::merge(const Op& op, const std::array<Index, N>& operands) {
  if (const auto answer = op.answer(operands))
    return *answer;
  const Memo::Key key = op.key(operands);
  if (const Index* known = memo_.find(key))
    return *known;
  count_step();

  std::uint16_t level = detail::NodeTable::kTerminalLevel;
  for (const Index f : operands)
    level = std::min(level, nodes_.level(f));
  const std::uint16_t max = levels_[level].max;
  std::array<std::size_t, N> at{};  // the edge that each operand is at
  Scratch scratch(scratch_);
  for (;;) {
    std::uint16_t last = max;
    std::array<Index, N> children;
    std::array<std::uint16_t, N> ends;
    for (std::size_t i = 0; i < N; ++i) {
      ends[i] = max;
      children[i] = operands[i];
      if (nodes_.level(operands[i]) == level) {
        const Edge edge = nodes_.edge(operands[i], at[i]);
        children[i] = edge.child;
        ends[i] = edge.last;
        last = std::min(last, edge.last);
      }
    }
    const Index child = merge(op, children);
    scratch.push(child, last);
    if (last == max)
      break;
    for (std::size_t i = 0; i < N; ++i)
      at[i] += ends[i] == last ? 1 : 0;
  }
  const Index node = make(level, scratch.edges());
  memo_.store(key, node);
  return node;
}

// ---- sets

Diagram Diagrams::unite(Diagram a, Diagram b) {
  return Diagram(merge<2>(Unite{kUnite}, {a.index_, b.index_}));
}

Diagram Diagrams::unite(std::span<const Diagram> sets) {
  if (sets.empty())
    return nothing();
  if (sets.size() == 1)
    return sets[0];
  const std::size_t half = sets.size() / 2;
  const Diagram first = unite(sets.first(half));
  return unite(first, unite(sets.subspan(half)));
}

Diagram Diagrams::intersect(Diagram a, Diagram b) {
  return Diagram(merge<2>(Intersect{kIntersect}, {a.index_, b.index_}));
}

Diagram Diagrams::complement(Diagram set) {
  return Diagram(merge<1>(Complement{kComplement}, {set.index_}));
}

// ---- functions

Diagram Diagrams::if_then_else(Diagram set, Diagram then, Diagram otherwise) {
  return Diagram(merge<3>(Choose{kChoose}, {set.index_, then.index_, otherwise.index_}));
}

Diagram Diagrams::fill(Diagram first, Terminal hole, Diagram then) {
  return Diagram(merge<2>(Fill{kFill, constant(hole).index_}, {first.index_, then.index_}));
}

Diagram Diagrams::where(Diagram f, Terminal terminal) {
  return Diagram(merge<1>(Where{kWhere, constant(terminal).index_}, {f.index_}));
}

Diagram Diagrams::where(Diagram f, const std::function<bool(Terminal)>& wanted) {
  return relabel(f, [&](Terminal terminal) { return wanted(terminal) ? 1 : 0; });
}

Diagram Diagrams::relabel(Diagram f, const std::function<Terminal(Terminal)>& to, Remembered as) {
  return Diagram(merge<1>(Relabel{operation(as), to}, {f.index_}));
}

Diagram Diagrams::apply(Diagram a, Diagram b, const std::function<Terminal(Terminal, Terminal)>& op,
                        Remembered as) {
  return Diagram(merge<2>(Apply{operation(as), op}, {a.index_, b.index_}));
}

Diagram Diagrams::replace(Diagram f, std::span<const Diagram> table) {
  return Diagram(replace_below(f.index_, table, next_operation_++));
}

Index Diagrams::replace_below(Index f, std::span<const Diagram> table, std::uint32_t operation) {
  if (is_terminal(f))
    return table[f & ~kTerminalBit].index_;
  const Memo::Key key{operation, f, 0, 0};
  if (const Index* known = memo_.find(key))
    return *known;
  count_step();
  const std::uint16_t level = nodes_.level(f);
  const std::size_t count = nodes_.edges(f).size();
  bool below = true;
  Scratch scratch(scratch_);
  for (std::size_t i = 0; i < count; ++i) {
    const Edge edge = nodes_.edge(f, i);
    const Index child = replace_below(edge.child, table, operation);
    below &= nodes_.level(child) > level;
    scratch.push(child, edge.last);
  }
  const Index node = place(level, scratch.edges(), below);
  memo_.store(key, node);
  return node;
}

// A choice by one digit among diagrams; `below`: all of them ask later digits only.
Index Diagrams::place(std::uint16_t level, std::span<Edge> edges, bool below) {
  if (below)
    return make(level, edges);
  // Copied: the operations that split() uses grow the stack that the edges stand on.
  return split(level, std::vector<Edge>(edges.begin(), edges.end()));
}

// By halves, each a choice between two diagrams.
Index Diagrams::split(std::uint16_t level, std::span<const Edge> edges) {
  if (edges.size() == 1)
    return edges[0].child;
  const auto lower = edges.first(edges.size() / 2);
  const Index then = split(level, lower);
  const Index otherwise = split(level, edges.subspan(lower.size()));
  Index is_lower = 0;
  {
    Scratch scratch(scratch_);
    scratch.push(kEverything, lower.back().last);
    scratch.push(kNothing, levels_[level].max);
    is_lower = make(level, scratch.edges());
  }
  return merge<3>(Choose{kChoose}, {is_lower, then, otherwise});
}

}  // namespace bulkhead::compiler::proof
