// The memory of diagrams: one arena of nodes, each stored once. Below Diagrams (diagram.h), which
// gives the nodes their meaning.
//
// A node asks one digit of one field ("level") and has an edge for each interval of that digit.
// Edges cover the digit's range, neighbours differ in their child, and a node with one edge is not
// stored: the child stands for it. So equal functions have equal indices. Nodes live until the
// table dies: a proof is short, and what it does not need again is small beside what it needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace bulkhead::compiler::proof {

// What one Diagrams may use. Questions about packet sets are NP-hard in the number of fields; real
// rulesets are far from that, and one that is not must end as "not proven" instead of never.
struct Budget {
  std::size_t edges = 50'000'000;   // 8 bytes each, and 16 for each node of usually several edges
  std::size_t steps = 400'000'000;  // merges of nodes, some 100 ns each
};

// Thrown by every operation that would exceed the budget; caught where a proof is asked for. All
// diagrams made before stay valid, and the operation can be repeated with no further harm.
class OutOfBudget : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace detail {

using Index = std::uint32_t;
inline constexpr Index kTerminalBit = Index{1} << 31;
[[nodiscard]] constexpr bool is_terminal(Index index) {
  return (index & kTerminalBit) != 0;
}

struct Edge {
  Index child = 0;
  std::uint16_t last = 0;  // of the digit's interval; it begins behind the edge before
};

class NodeTable {
 public:
  explicit NodeTable(const Budget& budget);

  // The node of these edges, or the child where all lead to it. Neighbours with one child are
  // merged here. `edges` is left in an unspecified state.
  Index make(std::uint16_t level, std::span<Edge> edges);

  // Terminals are below all nodes.
  [[nodiscard]] std::uint16_t level(Index index) const {
    return is_terminal(index) ? kTerminalLevel : nodes_[index].level;
  }
  static constexpr std::uint16_t kTerminalLevel = 0xffff;

  // Valid until the next make().
  [[nodiscard]] std::span<const Edge> edges(Index node) const {
    return {edges_.data() + nodes_[node].begin, edges_.data() + nodes_[node + 1].begin};
  }
  [[nodiscard]] Edge edge(Index node, std::size_t at) const {
    return edges_[nodes_[node].begin + at];
  }

  [[nodiscard]] std::size_t node_count() const { return nodes_.size() - 1; }
  [[nodiscard]] std::size_t edge_count() const { return edges_.size(); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Node {
    std::uint32_t begin = 0;  // into edges_; ends where the next node begins
    std::uint32_t hash = 0;
    std::uint16_t level = 0;
  };
  void grow();

  Budget budget_;
  std::vector<Node> nodes_;  // and one behind the last, to end its edges
  std::vector<Edge> edges_;
  std::vector<Index> slots_;  // open addressing; a power of two, at most half full
};

}  // namespace detail
}  // namespace bulkhead::compiler::proof
