// What a ruleset will be when one table of it is replaced, before anything is loaded.
#pragma once

#include <string_view>

#include "compiler/proof/ruleset.h"

namespace bulkhead::compiler::proof {

// Base chains of that table of `live` are taken out, all of `fresh` is added behind.
[[nodiscard]] Ruleset replaced(Ruleset live, TableFamily family, std::string_view name,
                               const Ruleset& fresh);

}  // namespace bulkhead::compiler::proof
