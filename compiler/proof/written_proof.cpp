#include "compiler/proof/written_proof.h"

#include "compiler/proof/ruleset_json.h"

namespace bulkhead::compiler::proof {

std::vector<EnforcerProof> prove_written(const Site& site, const Artifacts& artifacts) {
  std::vector<EnforcerProof> out;
  for (const EnforcerView& view : site.coverage.views) {
    const auto ruleset = parse_written_ruleset(ruleset_text(artifacts, view.enforcer));
    EnforcerProof proven;
    if (ruleset) {
      proven = prove_enforcer(site, view, *ruleset);
    } else {
      proven.enforcer = view.enforcer;
      proven.not_proven = "the ruleset could not be read back: " + ruleset.error().message;
    }
    proven.rules = "compiled";
    out.push_back(std::move(proven));
  }
  return out;
}

}  // namespace bulkhead::compiler::proof
