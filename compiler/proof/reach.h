// Which packets come to each rule of a ruleset, over all ways that lead there: what tells a rule
// that can never match. Where something is not known there are more packets than really come, never
// fewer: a rule that nothing reaches here is reached by nothing.
#pragma once

#include <functional>
#include <vector>

#include "compiler/proof/strands.h"

namespace bulkhead::compiler::proof {

// Where a rule may send packets: chains of its jumps and gotos, each once.
[[nodiscard]] std::vector<Index> targets(const Ruleset& ruleset, const Rule& rule);

struct ChainReach {
  bool used = false;           // a base chain, or a rule of a used chain names it
  Strands entry;               // what comes into it
  std::vector<Strands> comes;  // to each rule
  std::vector<bool> hit;       // some packet gets through all conditions of the rule, or may
};

// By chain. Packets of a base chain are those that the kernel can show at its hook, less what
// chains before it at this hook stop. `progress` is told how many rules are done. May throw
// OutOfBudget.
using Progress = std::function<void(std::size_t rules)>;
[[nodiscard]] std::vector<ChainReach> reach(Diagrams& space, Endings& endings, Symbolic& rules,
                                            const Ruleset& ruleset, const Progress& progress = {});

}  // namespace bulkhead::compiler::proof
