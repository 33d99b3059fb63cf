// What `bulkhead prove` answers, as text, as JSON (schema bulkhead.proof/1) and for CI pages.
#pragma once

#include <string>
#include <vector>

#include "cli/report/formats.h"
#include "scenarios/proving.h"

namespace bulkhead::cli {

[[nodiscard]] std::string proof_text(const std::vector<scenarios::EnforcerProof>& proofs,
                                     const View& view);
[[nodiscard]] std::string proof_json(const std::vector<scenarios::EnforcerProof>& proofs);
[[nodiscard]] std::string proof_junit(const std::vector<scenarios::EnforcerProof>& proofs);

// As `bulkhead prove` exits: 0 equal, 1 differences, 4 not decided.
[[nodiscard]] int proof_exit(const std::vector<scenarios::EnforcerProof>& proofs);

}  // namespace bulkhead::cli
