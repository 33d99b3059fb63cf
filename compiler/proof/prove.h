// Do these rules do what the matrix says, for every packet? The comparison of an Intent with the
// evaluated ruleset of one enforcer, and the packets where they differ.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "compiler/proof/box.h"
#include "compiler/proof/intent.h"
#include "compiler/proof/passage.h"
#include "compiler/proof/possible.h"
#include "compiler/proof/symbolic.h"

namespace bulkhead::compiler::proof {

// All are sets of packets as they come in, before any translation.
struct Comparison {
  Passage passage = Passage::Forward;
  Diagram opens;      // denied by the policy, and pass
  Diagram closes;     // allowed, and do not
  Diagram may_open;   // denied, and pass or not by more than the packet (a limit, a queue)
  Diagram may_close;  // allowed, likewise
  Diagram unknown;    // a rule outside the model decides, and the policy cares
  // Later packets of translated connections, which are not looked at: they go where the first
  // packet of theirs went, and that one is.
  Diagram translated;
  long double unknown_share = 0;  // of all packets of this passage
  long double translated_share = 0;
  [[nodiscard]] bool equal() const;
};

// What the rules do to the packets of one passage; terminals are numbers of the Endings.
[[nodiscard]] Diagram doing(Symbolic& rules, Passage passage);

// `does` is doing(rules, passage), `wanted` the intent of that passage, `here` the packets of
// possible_for(). A translated packet is held against the policy by its original source and its
// real destination. May throw OutOfBudget.
[[nodiscard]] Comparison compare(Diagrams& space, const Endings& endings, Passage passage,
                                 Diagram here, Diagram does, Diagram wanted);
[[nodiscard]] Diagram of(const Intent& intent, Passage passage);

}  // namespace bulkhead::compiler::proof
