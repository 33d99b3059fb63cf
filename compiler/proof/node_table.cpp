#include "compiler/proof/node_table.h"

#include <algorithm>

namespace bulkhead::compiler::proof::detail {

namespace {

constexpr Index kFree = 0xffffffff;

std::uint32_t hash_of(std::uint16_t level, std::span<const Edge> edges) {
  std::uint64_t hash = 0x9e3779b97f4a7c15u ^ level;
  for (const Edge& edge : edges) {
    hash ^= (std::uint64_t{edge.last} << 32) | edge.child;
    hash *= 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return static_cast<std::uint32_t>(hash);
}

}  // namespace

NodeTable::NodeTable(const Budget& budget) : budget_(budget), nodes_(1), slots_(1024, kFree) {}

Index NodeTable::make(std::uint16_t level, std::span<Edge> edges) {
  std::size_t kept = 0;
  for (std::size_t i = 1; i < edges.size(); ++i) {
    if (edges[i].child != edges[kept].child)
      ++kept;
    edges[kept] = edges[i];
  }
  if (kept == 0)
    return edges[0].child;
  edges = edges.first(kept + 1);

  const std::uint32_t hash = hash_of(level, edges);
  std::size_t slot = hash & (slots_.size() - 1);
  for (; slots_[slot] != kFree; slot = (slot + 1) & (slots_.size() - 1)) {
    const Node& node = nodes_[slots_[slot]];
    if (node.hash != hash || node.level != level)
      continue;
    const auto known = this->edges(slots_[slot]);
    if (std::equal(
            known.begin(), known.end(), edges.begin(), edges.end(),
            [](const Edge& a, const Edge& b) { return a.child == b.child && a.last == b.last; }))
      return slots_[slot];
  }

  if (edges_.size() + edges.size() > budget_.edges)
    throw OutOfBudget("the packet sets need more memory than a proof may use");
  const Index index = static_cast<Index>(nodes_.size() - 1);
  nodes_[index].hash = hash;
  nodes_[index].level = level;
  edges_.insert(edges_.end(), edges.begin(), edges.end());
  nodes_.push_back({static_cast<std::uint32_t>(edges_.size()), 0, 0});
  slots_[slot] = index;
  if (node_count() * 2 > slots_.size())
    grow();
  return index;
}

void NodeTable::grow() {
  std::vector<Index> slots(slots_.size() * 4, kFree);
  for (Index node = 0; node < node_count(); ++node) {
    std::size_t slot = nodes_[node].hash & (slots.size() - 1);
    while (slots[slot] != kFree)
      slot = (slot + 1) & (slots.size() - 1);
    slots[slot] = node;
  }
  slots_ = std::move(slots);
}

std::size_t NodeTable::bytes() const {
  return nodes_.capacity() * sizeof(Node) + edges_.capacity() * sizeof(Edge) +
         slots_.capacity() * sizeof(Index);
}

}  // namespace bulkhead::compiler::proof::detail
