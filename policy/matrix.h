// What the policy means: for every ordered pair of classes, which traffic is allowed or explicitly
// denied, and by which flows. Everything not listed is denied by default. The one input of compile,
// proof and probes.
#pragma once

#include <string>
#include <vector>

#include "policy/class.h"
#include "policy/model.h"

namespace bulkhead::policy {

// Rule ids with a meaning of their own, beside the flows' ids.
inline constexpr std::string_view kRuleDefault = "default";  // no flow says anything
inline constexpr std::string_view kRuleInside = "inside";    // segment says inside = "open"

struct Piece {
  TrafficKey key;
  PortRange ports;
  Action action = Action::Allow;
  std::vector<std::string>
      rules;  // sorted ids of the flows that decide: of the allows, or of the denies
  auto operator<=>(const Piece&) const = default;
};

struct Cell {
  ClassId from = 0;
  ClassId to = 0;
  // inside = "open": the cell is allowed as a whole. `pieces` then holds only what a flow denies
  // all the same, which nothing can enforce inside a segment: coverage makes it an error.
  bool everything = false;
  std::vector<Piece> pieces;  // sorted by key and ports, disjoint; allow minus deny already done
};

struct Matrix {
  Universe universe;
  Date as_of{};
  std::vector<Cell>
      cells;  // sorted by (from, to); only cells with something said; others are default deny
  std::vector<Service> services;  // all named services, by name: what denied cells are probed with
  [[nodiscard]] const Cell* find(ClassId from, ClassId to) const;
};

// Flows that are expired on `as_of` count as absent. Deterministic: same input, same value.
[[nodiscard]] Matrix derive(const Policy& policy, const Universe& universe, Date as_of);

// The classes that a selector names, ascending. `any` is every class but spares, enforcers
// included.
[[nodiscard]] std::vector<ClassId> select(const Selector& selector, const Universe& universe);

// Is this pair one of a never's exceptions: both of one tenant, or a named class on either side?
[[nodiscard]] bool is_excepted(const Never& never, const Universe& universe, ClassId from,
                               ClassId to);

}  // namespace bulkhead::policy
