#include "compiler/proof/enforcer_proof.h"

#include <fmt/format.h>

#include <algorithm>

namespace bulkhead::compiler::proof {

namespace {

void add_ambiguous(const Ruleset& ruleset, Index a, Index b, EnforcerProof& out) {
  const std::string text =
      fmt::format("{} and {} have one priority, and their order changes the answer",
                  chain_name(ruleset, a), chain_name(ruleset, b));
  if (std::find(out.ambiguous.begin(), out.ambiguous.end(), text) == out.ambiguous.end())
    out.ambiguous.push_back(text);
}

void decide(const Site& site, const EnforcerView& view, const Ruleset& ruleset,
            const ProofLimits& limits, EnforcerProof& out) {
  Diagrams space(limits.budget);
  Endings endings;
  Symbolic rules(space, endings, ruleset);
  const Intent intent = intend(space, site, view);
  const Naming naming(&site, &view);
  for (const Passage passage : kPassages) {
    const Comparison comparison =
        compare(space, endings, passage, possible(space, ruleset, passage), doing(rules, passage),
                of(intent, passage));
    out.parts.push_back({passage,
                         differences(space, comparison, ruleset, naming, limits.differences),
                         comparison.unknown_share, comparison.translated_share});
    for (const Station& station : stations(passage))
      for (const auto& [a, b] : rules.ambiguous_order(station.family, station.hook))
        add_ambiguous(ruleset, a, b, out);
  }
  std::vector<Differences*> passages;
  for (EnforcerProof::Part& part : out.parts)
    passages.push_back(&part.differences);
  say_whether_harmless(passages);
}

}  // namespace

bool EnforcerProof::holds() const {
  return not_proven.empty() && ambiguous.empty() &&
         std::all_of(parts.begin(), parts.end(),
                     [](const Part& part) { return part.differences.empty(); });
}

bool EnforcerProof::is_open_question() const {
  if (holds())
    return false;
  return std::all_of(parts.begin(), parts.end(), [](const Part& part) {
    return std::all_of(part.differences.findings.begin(), part.differences.findings.end(),
                       [](const Finding& finding) { return finding.effect == Effect::Unknown; });
  });
}

EnforcerProof prove_enforcer(const Site& site, const EnforcerView& view, const Ruleset& ruleset,
                             const ProofLimits& limits) {
  EnforcerProof out;
  out.enforcer = view.enforcer;
  for (const Chain& chain : ruleset.chains)
    out.rule_count += chain.rules.size();
  for (const Set& set : ruleset.sets)
    out.element_count += set.elements.size();
  try {
    decide(site, view, ruleset, limits, out);
  } catch (const OutOfBudget& error) {
    out.not_proven = fmt::format("too large to decide: {}", error.what());
  }
  return out;
}

}  // namespace bulkhead::compiler::proof
