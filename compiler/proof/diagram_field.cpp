// Operations that change what one field means: it gets a value, is forgotten, masked or copied.
#include <algorithm>

#include "compiler/proof/diagram.h"
#include "compiler/proof/diagram_scratch.h"

namespace bulkhead::compiler::proof {

using detail::is_terminal;
using detail::Memo;

template <class Rewrite>
Diagrams::Index Diagrams::at_field(Index f, Field field, std::uint32_t operation,
                                   const Rewrite& rewrite) {
  const std::uint16_t level = nodes_.level(f);
  if (level >= behind(field))
    return f;
  const Memo::Key key{operation, f, 0, 0};
  if (const Index* known = memo_.find(key))
    return *known;
  count_step();
  Index node = 0;
  if (level >= first_level(field)) {
    node = rewrite(f);
  } else {
    bool below = true;
    Scratch scratch(scratch_);
    const std::size_t count = nodes_.edges(f).size();
    for (std::size_t i = 0; i < count; ++i) {
      const Edge edge = nodes_.edge(f, i);
      const Index child = at_field(edge.child, field, operation, rewrite);
      below &= nodes_.level(child) > level;
      scratch.push(child, edge.last);
    }
    node = place(level, scratch.edges(), below);
  }
  memo_.store(key, node);
  return node;
}

Diagram Diagrams::fix(Diagram f, Field field, Value value) {
  const auto follow = [&](Index node) {
    while (nodes_.level(node) < behind(field)) {
      const Level& level = level_of(node);
      const auto digit = static_cast<std::uint16_t>((value >> level.shift) & level.ones);
      const auto edges = nodes_.edges(node);
      node = std::find_if(edges.begin(), edges.end(), [&](const Edge& edge) {
               return edge.last >= digit;
             })->child;
    }
    return node;
  };
  return Diagram(at_field(f.index_, field, next_operation_++, follow));
}

Diagram Diagrams::fold(Diagram f, Field field,
                       const std::function<Terminal(Terminal, Terminal)>& op) {
  const std::uint32_t operation = next_operation_++;
  return Diagram(fold_below(f.index_, field, operation,
                            [&](Diagram a, Diagram b) { return apply(a, b, op); }));
}

Diagram Diagrams::exists(Diagram set, Field field) {
  return Diagram(fold_below(set.index_, field, next_operation_++,
                            [&](Diagram a, Diagram b) { return unite(a, b); }));
}

template <class Join>
Diagrams::Index Diagrams::fold_below(Index f, Field field, std::uint32_t operation,
                                     const Join& join) {
  const auto all_together = [&](const auto& self, Index node) -> Index {
    if (nodes_.level(node) >= behind(field))
      return node;
    std::vector<Diagram> parts;
    const std::size_t count = nodes_.edges(node).size();
    for (std::size_t i = 0; i < count; ++i)
      parts.push_back(Diagram(self(self, nodes_.edge(node, i).child)));
    std::sort(parts.begin(), parts.end());
    parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    // In pairs, so that each part is walked log(parts) times.
    for (; parts.size() > 1; parts.resize((parts.size() + 1) / 2))
      for (std::size_t i = 0; i < parts.size(); i += 2)
        parts[i / 2] = i + 1 < parts.size() ? join(parts[i], parts[i + 1]) : parts[i];
    return parts[0].index_;
  };
  return at_field(f, field, operation,
                  [&](Index node) { return all_together(all_together, node); });
}

Diagram Diagrams::masked(Diagram f, Field field, Value mask, Value flip) {
  const std::uint32_t inner = next_operation_++;
  const auto digits = [&](const auto& self, Index node) -> Index {
    const std::uint16_t level = nodes_.level(node);
    if (level >= behind(field))
      return node;
    const Memo::Key key{inner, node, 0, 0};
    if (const Index* known = memo_.find(key))
      return *known;
    count_step();
    const Level& digit = levels_[level];
    const auto kept = static_cast<std::uint32_t>((mask >> digit.shift) & digit.ones);
    const auto flipped = static_cast<std::uint32_t>((flip >> digit.shift) & digit.ones);
    Scratch scratch(scratch_);
    for (std::uint32_t number = 0; number <= digit.max; ++number) {
      const std::uint32_t seen = (number & kept) ^ flipped;
      const auto edges = nodes_.edges(node);
      // Beyond the field's own values nothing is told apart from its last one.
      const auto edge = std::partition_point(edges.begin(), edges.end() - 1,
                                             [&](const Edge& e) { return e.last < seen; });
      const Index child = edge->child;
      scratch.push(self(self, child), static_cast<std::uint16_t>(number));
    }
    const Index made = make(level, scratch.edges());
    memo_.store(key, made);
    return made;
  };
  return Diagram(at_field(f.index_, field, next_operation_++,
                          [&](Index node) { return digits(digits, node); }));
}

Diagram Diagrams::copied(Diagram f, Field to, Field from) {
  return Diagram(at_field(f.index_, to, next_operation_++, [&](Index node) {
    return branch(from, branches(Diagram(node), to), nothing()).index_;
  }));
}

}  // namespace bulkhead::compiler::proof
