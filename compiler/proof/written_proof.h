// The proof of artifacts before they are written anywhere: each ruleset's own text, read back in
// memory, against the matrix.
#pragma once

#include <vector>

#include "compiler/compile.h"
#include "compiler/proof/enforcer_proof.h"

namespace bulkhead::compiler::proof {

// One for each enforcer of the artifacts, in their order. Text that cannot be read back is not
// proven. Rules of other owners beside ours are not counted; `compile --verify` and `audit` do.
[[nodiscard]] std::vector<EnforcerProof> prove_written(const Site& site,
                                                       const Artifacts& artifacts);

}  // namespace bulkhead::compiler::proof
