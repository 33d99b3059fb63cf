// The way of a set of packets through a ruleset, station by station, chain by chain, rule by rule:
// which rule takes which part of it. What `bulkhead query` shows; the walk of one packet is
// interpret().
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "compiler/proof/strands.h"

namespace bulkhead::compiler::proof {

struct TraceStep {
  Hook hook = Hook::Forward;
  Index chain = kNone;
  Index rule = kNone;       // in the chain; kNone: the policy of a base chain
  unsigned depth = 0;       // 0 in a base chain, one more behind each jump or goto
  End end = End::Continue;  // what the rule does with them; Done: it matches and decides nothing
  Index to = kNone;         // of Jump and Goto
  Diagram packets;          // of those asked, as they came in
  Changes changes;          // what was changed in them, this rule included, if that is one thing
  Doubt doubt = Doubt::None;
};

struct Trace {
  std::vector<TraceStep> steps;  // in order; rules that match nothing of it are left out
  // What comes to the end, or may: doubts that come together again are not seen here, and an
  // offloaded connection passes all of this by. What is certain, Symbolic::way() says.
  Diagram arrives;
  bool complete = true;  // else there are more steps than `limit`
};

// `asked` are packets as they come in. May throw OutOfBudget.
[[nodiscard]] Trace trace(Diagrams& space, Endings& endings, Symbolic& rules,
                          const Ruleset& ruleset, std::span<const Station> way, Diagram asked,
                          std::size_t limit);

}  // namespace bulkhead::compiler::proof
