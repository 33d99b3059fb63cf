// Rulesets of other owners (`foreign`), which nft loads in the lab with our rights. They are read
// here as text only, to be sure that a file of the site stays one.
#pragma once

#include <cstdint>

#include "policy/support/diagnostic.h"

namespace bulkhead::compiler {

// An `include` would have nft read any file of the machine: an error at its place.
void check_foreign(std::uint32_t file, const SourceMap& sources, Diagnostics& diagnostics);

}  // namespace bulkhead::compiler
