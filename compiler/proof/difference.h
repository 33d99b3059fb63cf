// Where rules and policy differ, told for people: who to whom, which traffic, one packet as an
// example, what the policy says of it and which rules decide. Made from a Comparison for reports;
// nothing is decided here.
#pragma once

#include <string>
#include <vector>

#include "compiler/proof/example.h"
#include "compiler/proof/naming.h"
#include "compiler/proof/prove.h"

namespace bulkhead::compiler::proof {

enum class Effect : std::uint8_t { Opens, MayOpen, Closes, MayClose, Unknown };
[[nodiscard]] std::string_view to_string(Effect effect);  // "opens", "may open", ...

struct Difference {
  Effect effect = Effect::Opens;
  Passage passage = Passage::Forward;
  std::vector<Family> families;
  NamedBox box;
  Example example;
  std::string policy;              // "denied by default", "allowed by R1"; empty: not asked
  std::vector<std::string> rules;  // the example's way, rule by rule; the last decides
};

struct Differences {
  std::vector<Difference> list;  // openings first, the largest of each kind first
  bool complete = true;          // else there are more
};

// At most `limit` of each effect and passage.
[[nodiscard]] Differences differences(Diagrams& space, const Comparison& comparison,
                                      const Ruleset& ruleset, const Naming& naming,
                                      std::size_t limit);

// The way of one packet as lines: "inet bulkhead c_red, rule 12 \"default\": drop".
[[nodiscard]] std::vector<std::string> way_of(const Ruleset& ruleset, const Packet& packet,
                                              Passage passage);

}  // namespace bulkhead::compiler::proof
