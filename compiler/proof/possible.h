// Which packets the kernel can show to an enforcer's rules at all. What it never shows is no
// difference, however the rules would treat it.
#pragma once

#include <string>
#include <vector>

#include "compiler/proof/diagram.h"
#include "compiler/proof/passage.h"
#include "compiler/proof/ruleset.h"

namespace bulkhead::compiler::proof {

// A rule that asks for connections makes the kernel track those of its family, and so put fragments
// together before any chain but the earliest sees them (kernel 6.18: nft_ct_get_init, nf_defrag at
// priority -400).
[[nodiscard]] bool tracks_connections(const Ruleset& ruleset, Family family);

// Devices of that passage, states with their direction, whole datagrams where connections are
// tracked.
[[nodiscard]] Diagram possible(Diagrams& space, const Ruleset& ruleset, Passage passage);

// The same, of rules that do `does`, with what is of use only where rules ask for it, and costly
// where they do not.
struct Possible {
  Diagram packets;
  // Marks and zones that rules ask for and none sets. They are taken as 0, which is how packets
  // come; but whatever else runs on the machine may set them, so that the answer has to say so.
  std::vector<Field> taken_as_zero;
};
[[nodiscard]] Possible possible_for(Diagrams& space, const Ruleset& ruleset, Passage passage,
                                    Diagram does);
// "rules ask for ct mark, which ..."
[[nodiscard]] std::string doubt_about(Field taken_as_zero);

}  // namespace bulkhead::compiler::proof
