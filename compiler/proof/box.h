// Packet sets as people read them: a few large boxes, "from these addresses to those, these ports".
// For reports; nothing is decided on boxes.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "compiler/proof/diagram.h"

namespace bulkhead::compiler::proof {

// Every packet whose fields each lie in one of their ranges; fields not named are free.
struct Box {
  std::vector<std::pair<Field, std::vector<ValueRange>>> fields;  // ascending, ranges too
};
[[nodiscard]] Diagram to_set(Diagrams& space, const Box& box);

struct Boxes {
  std::vector<Box> boxes;  // the largest first; each inside the set, overlaps are possible
  bool complete = true;    // together they are the set; else there is more
};
// At most `limit` boxes. Greedy: the largest box of what is left, widened as far as the set goes.
// Cost: about limit x the size of the diagram, and the square of the children of narrow nodes.
[[nodiscard]] Boxes boxes(Diagrams& space, Diagram set, std::size_t limit);

// One packet of the set, by field; nothing where the field may be anything. `choose` gets the
// ranges from which a value leads into the set, ascending and not empty, and picks one of theirs.
// Nothing of an empty set. Same set and choices, same packet.
using SomePacket = std::vector<std::optional<Value>>;
using Choose = std::function<Value(Field, std::span<const ValueRange>)>;
[[nodiscard]] std::optional<SomePacket> sample(const Diagrams& space, Diagram set,
                                               const Choose& choose);

// The smallest value, but where there is another not one that ends in a zero byte: no network's own
// address, no port 0, no packet without an interface.
[[nodiscard]] Value smallest(Field field, std::span<const ValueRange> ranges);

}  // namespace bulkhead::compiler::proof
