// Which rule decides about which packets, for reports: every packet of a passage by the rule, or
// the policy of a base chain, that lets it pass or stops it.
#pragma once

#include <string>
#include <vector>

#include "compiler/proof/ending.h"
#include "compiler/proof/prove.h"
#include "compiler/proof/symbolic.h"

namespace bulkhead::compiler::proof {

class Deciders {
 public:
  // Evaluates the ruleset once more, each rule told apart. May throw OutOfBudget.
  Deciders(Diagrams& space, const Ruleset& ruleset, Passage passage);

  struct Part {
    RuleRef rule;  // chain kNone: no chain sees these packets; rule kNone: a chain's policy
    Diagram packets;
  };
  enum class Of { Passing, Stopped, Unknown };
  // `set` by who decides, in order of the ruleset. Behind `limit` rules the rest is in `rest`.
  struct Parts {
    std::vector<Part> list;
    Diagram rest;
    std::size_t rest_rules = 0;
  };
  [[nodiscard]] Parts split(Diagram set, Of of, std::size_t limit);

 private:
  Diagrams& space_;
  Endings endings_;
  Diagram does_;
};

// "inet filter forward, rule 3 \"web\"", "inet filter forward, policy drop", "no chain sees ..."
[[nodiscard]] std::string name_of(const Ruleset& ruleset, const RuleRef& rule);
// With its text in nft's words, where that is known: "inet filter forward, rule 3: tcp dport 22
// accept"
[[nodiscard]] std::string described(const Ruleset& ruleset, const RuleRef& rule);

}  // namespace bulkhead::compiler::proof
