// The path model: for every ordered pair of classes, who is between them and what is meant to stop
// them. A control that is not on the path controls nothing; this is where bulkhead says so.
#pragma once

#include <string>
#include <vector>

#include "compiler/inventory.h"
#include "policy/matrix.h"

namespace bulkhead::compiler {

enum class Cause {
  None,       // nothing of anybody's separates the two: NotCovered
  Rule,       // an enforcer of ours is on the path
  Route,      // no route: VRFs without a leak, or a segment without a gateway
  Partition,  // InfiniBand keys
  External,   // a control that we cannot read
};
[[nodiscard]] std::string_view to_string(Cause cause);

struct CellCoverage {
  policy::ClassId from = 0;
  policy::ClassId to = 0;
  Cause cause = Cause::None;
  std::vector<std::string> path;  // managed enforcers crossed, in order, from -> to
  std::string control;  // enforcer that carries the cause: "fw", "leaf", "mgmt-sw"; empty for None
  // Another class on the same leg may do what this one may not, so a forged source address is not
  // told apart: the denied part of the cell is NotCovered even if an honest probe is dropped.
  // Empty: separated.
  std::string not_separated_from;
  std::string reason;  // one sentence for reports, e.g. "same segment, inside = open"
};

// One way through one enforcer: which leg a class's packets enter or leave by.
struct LegBinding {
  policy::ClassId cls = 0;
  std::string interface;
};

struct EnforcerView {  // what one managed enforcer has to know
  std::string enforcer;
  std::vector<LegBinding> bindings;  // each class once; enforcer's own class is not in it
  policy::ClassId self = 0;
};

struct Coverage {
  std::vector<CellCoverage> cells;  // dense: universe.size() squared, index from * n + to
  std::vector<EnforcerView> views;  // managed router enforcers, by name
  [[nodiscard]] const CellCoverage& at(policy::ClassId from, policy::ClassId to) const;
  std::size_t n = 0;
};

// Reports "not enforced here" (explicit deny or never without a cause), asymmetric paths, isolated
// segments without a usable control, legs that bind nothing.
[[nodiscard]] Coverage derive_coverage(const policy::Policy& policy, const Inventory& inventory,
                                       const policy::Matrix& matrix, Diagnostics& diagnostics);

}  // namespace bulkhead::compiler
