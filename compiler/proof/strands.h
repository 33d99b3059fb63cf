// Sets of packets on their way through rules, with what was changed in them so far: how the walks
// over a ruleset that name rules (trace.h, reach.h) keep exact what each rule gets. A set is always
// one of packets as they came in; what a rule sees of them is told by the changes.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/proof/symbolic.h"

namespace bulkhead::compiler::proof {

// How sure it is that the packets come this far.
enum class Doubt : std::uint8_t {
  None,
  Chance,   // a limit, a quota, a queue decides
  Unknown,  // something outside the model decides
};

struct Strand {
  Diagram packets;
  Changes changes;
  Doubt doubt = Doubt::None;
};

// Strands with different changes or doubts; equal ones are put together. Of very many, what was
// changed in them is forgotten: more packets than there are then, never fewer.
class Strands {
 public:
  void add(Diagrams& space, Strand strand);
  void add(Diagrams& space, const Strands& others);
  [[nodiscard]] bool empty() const { return strands_.empty(); }
  [[nodiscard]] auto begin() const { return strands_.begin(); }
  [[nodiscard]] auto end() const { return strands_.end(); }
  [[nodiscard]] Diagram packets(Diagrams& space) const;
  [[nodiscard]] Strands within(Diagrams& space, Diagram set) const;

 private:
  std::vector<Strand> strands_;  // none is empty
};

// The packets by what f gives, in one go: terminals ascending.
using Parts = std::vector<std::pair<Terminal, Diagram>>;
[[nodiscard]] Parts parts(Diagrams& space, Diagram f);

// One way that some packets of a strand take.
struct Passing {
  Way way;  // its changes are all since the packet came in, and are in `strand` too
  Strand strand;
  std::vector<RuleRef> unknown;
};

// Sends strands through what rules or chains do. Answers are remembered by function.
class Splitter {
 public:
  Splitter(Diagrams& space, Endings& endings, Symbolic& symbolic)
      : space_(space), endings_(endings), symbolic_(symbolic) {}

  // `does` gives numbers of the Endings. No empty ones.
  [[nodiscard]] std::vector<Passing> split(Diagram does, const Strand& strand);

 private:
  Diagrams& space_;
  Endings& endings_;
  Symbolic& symbolic_;
  std::unordered_map<std::uint32_t, Parts> known_;  // by id of the function
};

}  // namespace bulkhead::compiler::proof
