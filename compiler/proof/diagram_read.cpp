// What can be asked of a diagram without making new ones.
#include <algorithm>
#include <unordered_map>

#include "compiler/proof/diagram.h"

namespace bulkhead::compiler::proof {

using detail::is_terminal;
using detail::kTerminalBit;

Terminal Diagrams::at(Diagram f, std::span<const Value> packet) const {
  Index index = f.index_;
  while (!is_terminal(index)) {
    const Level& level = level_of(index);
    const Value value = packet[static_cast<std::size_t>(level.field)];
    const auto digit = static_cast<std::uint16_t>((value >> level.shift) & level.ones);
    const auto edges = nodes_.edges(index);
    index = std::partition_point(edges.begin(), edges.end(), [&](const Edge& edge) {
              return edge.last < digit;
            })->child;
  }
  return index & ~kTerminalBit;
}

std::optional<Field> Diagrams::root(Diagram f) const {
  if (f.is_constant())
    return {};
  return level_of(f.index_).field;
}

std::vector<Branch> Diagrams::branches(Diagram f, Field field, std::size_t limit) const {
  std::vector<Branch> out;
  flatten(f.index_, first_level(field), behind(field), 0, limit, out);
  return out;
}

// Appends what f gives for the values from `low` on that the digits from `level` on can say. False:
// the limit is reached.
bool Diagrams::flatten(Index f, std::uint16_t level, std::uint16_t behind, Value low,
                       std::size_t limit, std::vector<Branch>& out) const {
  const auto push = [&](Value last, Index child) {
    if (!out.empty() && out.back().child.index_ == child) {
      out.back().range.last = last;
      return true;
    }
    if (out.size() == limit)
      return false;
    out.push_back({{out.empty() ? 0 : out.back().range.last + 1, last}, Diagram(child)});
    return true;
  };
  if (level == behind)
    return push(low, f);
  const Level& digit = levels_[level];
  const Value below = (Value{1} << digit.shift) - 1;
  if (nodes_.level(f) >= behind)
    return push(low + (Value{digit.max} << digit.shift) + below, f);

  // A digit that f does not ask is like one edge over all of it.
  const Edge all{f, digit.max};
  const auto edges = nodes_.level(f) == level ? nodes_.edges(f) : std::span<const Edge>(&all, 1);
  std::uint32_t number = 0;
  for (const Edge& edge : edges) {
    if (nodes_.level(edge.child) >= behind) {
      if (!push(low + (Value{edge.last} << digit.shift) + below, edge.child))
        return false;
      number = edge.last + 1u;
    }
    for (; number <= edge.last; ++number)
      if (!flatten(edge.child, static_cast<std::uint16_t>(level + 1), behind,
                   low + (Value{number} << digit.shift), limit, out))
        return false;
  }
  return true;
}

template <class Visit>
void Diagrams::each_node(Diagram f, Visit&& visit) const {
  if (f.is_constant()) {
    visit(f.index_);
    return;
  }
  // Marks of earlier walks stand for "not seen"; a table cleared each time would cost more than the
  // walk over a small diagram.
  seen_.resize(nodes_.node_count());
  const std::uint32_t walk = ++walk_;
  std::vector<Index> todo{f.index_};
  seen_[f.index_] = walk;
  while (!todo.empty()) {
    const Index node = todo.back();
    todo.pop_back();
    visit(node);
    for (const Edge& edge : nodes_.edges(node)) {
      if (is_terminal(edge.child)) {
        visit(edge.child);
      } else if (seen_[edge.child] != walk) {
        seen_[edge.child] = walk;
        todo.push_back(edge.child);
      }
    }
  }
}

std::vector<Terminal> Diagrams::terminals(Diagram f) const {
  std::vector<Terminal> out;
  each_node(f, [&](Index index) {
    if (is_terminal(index) && (out.empty() || out.back() != (index & ~kTerminalBit)))
      out.push_back(index & ~kTerminalBit);
  });
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<Field> Diagrams::asked(Diagram f) const {
  std::vector<bool> is_asked(fields_.size());
  each_node(f, [&](Index index) {
    if (!is_terminal(index))
      is_asked[static_cast<std::size_t>(level_of(index).field)] = true;
  });
  std::vector<Field> out;
  for (std::size_t field = 0; field < is_asked.size(); ++field)
    if (is_asked[field])
      out.push_back(static_cast<Field>(field));
  return out;
}

Diagrams::Size Diagrams::size(Diagram f) const {
  Size size;
  each_node(f, [&](Index index) {
    if (is_terminal(index))
      return;
    ++size.nodes;
    size.edges += nodes_.edges(index).size();
  });
  return size;
}

long double Diagrams::fraction(Diagram set) const {
  std::unordered_map<Index, long double> known;
  const auto below = [&](const auto& self, Index f) -> long double {
    if (is_terminal(f))
      return f == kTerminalBit ? 0 : 1;
    if (const auto found = known.find(f); found != known.end())
      return found->second;
    long double sum = 0;
    std::uint32_t first = 0;
    for (const Edge& edge : nodes_.edges(f)) {
      sum += static_cast<long double>(edge.last + 1u - first) * self(self, edge.child);
      first = edge.last + 1u;
    }
    sum /= static_cast<long double>(level_of(f).max) + 1;
    known.emplace(f, sum);
    return sum;
  };
  return below(below, set.index_);
}

}  // namespace bulkhead::compiler::proof
