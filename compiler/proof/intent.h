// What an enforcer has to let through, told by the matrix and the path model alone: one side of the
// proof, the other being what its rules do (symbolic.h). Made without the intermediate form and the
// targets that rules are made from, so that a mistake of theirs shows as a difference.
#pragma once

#include "compiler/proof/diagram.h"
#include "compiler/site.h"

namespace bulkhead::compiler::proof {

// The terminals of an Intent.
enum class Wanted : Terminal {
  No,    // the policy denies it: rules that pass it are open
  Must,  // the policy allows it: rules that stop it are closed
  // Nobody is the poorer or the richer for it: an answer to a connection that cannot exist, a
  // packet of an allowed flow that conntrack calls invalid.
  May,
};

// By hook of the enforcer. Each is told of the packets that the hook can see (possible.h), and
// arbitrary beyond them.
struct Intent {
  Diagram input, forward, output;
};

// `view` is one of site.coverage.views. May throw OutOfBudget.
[[nodiscard]] Intent intend(Diagrams& space, const Site& site, const EnforcerView& view);

}  // namespace bulkhead::compiler::proof
