// Which packets of one kind pass a ruleset, and by which rules: the answer of `bulkhead query`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/proof/example.h"
#include "compiler/proof/portion.h"
#include "compiler/proof/question.h"
#include "compiler/proof/trace.h"

namespace bulkhead::compiler::proof {

enum class Passes : std::uint8_t {
  All,
  Some,
  No,
  Unknown,  // of all or of some a rule outside the model decides
};
[[nodiscard]] std::string_view to_string(Passes passes);  // "all", "some", "none", "unknown"

// What becomes of one part of the packets, largest parts first.
struct QueryPart {
  Outcome outcome = Outcome::Accept;
  Portion portion;
  std::optional<Example> example;
  std::vector<std::string> way;      // the example's, rule by rule; the last decides
  std::vector<std::string> unknown;  // rules outside the model that decide
};

struct QueryStep {
  TraceStep step;
  std::string rule;     // in nft's words; of a policy "policy drop"
  std::string verdict;  // "accept", "jump c_web", "goes on"
  Portion portion;      // of what was asked
};

struct QueryAnswer {
  Question question;
  Passes passes = Passes::No;
  std::vector<QueryPart> parts;  // in the order of Outcome; those that there are
  std::vector<QueryStep> steps;
  bool complete = true;  // else the trace has more steps
};

struct QueryLimits {
  std::size_t boxes = 6;
  std::size_t steps = 100;
};

// Nothing where no packet is so. May throw OutOfBudget.
[[nodiscard]] std::optional<QueryAnswer> query(Diagrams& space, const Ruleset& ruleset,
                                               const Question& question, const Naming& naming,
                                               const QueryLimits& limits = {});

}  // namespace bulkhead::compiler::proof
