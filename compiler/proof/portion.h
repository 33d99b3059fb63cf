// Which part of a set another one is, told for people: "all of it", or in few boxes that say only
// what the part has and the whole has not.
#pragma once

#include <cstddef>
#include <vector>

#include "compiler/proof/naming.h"

namespace bulkhead::compiler::proof {

struct NamedPart {
  std::vector<Family> families;
  NamedBox box;
  bool is_of_one = false;  // the family tells it apart: the whole has packets of both
};

struct Portion {
  bool is_all = false;
  long double share = 0;         // of the whole, fields drawn evenly
  std::vector<NamedPart> parts;  // the largest first; empty where it is all
  bool complete = true;          // else there are more
};

// `part` lies in `whole`, which is not empty. At most `limit` boxes.
[[nodiscard]] Portion portion(Diagrams& space, Diagram part, Diagram whole, const Naming& naming,
                              std::size_t limit);

// "from red, tcp 22, in by eth0": what the box says beyond "anything, anywhere".
[[nodiscard]] std::string to_string(const NamedPart& part);
[[nodiscard]] std::string to_string(const Portion& portion);  // "all of it", "a; b; and more"

}  // namespace bulkhead::compiler::proof
