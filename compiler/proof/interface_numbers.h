// `iif 7` in a file: which interface has number 7 is known only on the machine that the file was
// written for. What such a match does is outside the model, instead of "never", which is right of
// rules that are loaded: there a number without a name is an interface that is gone.
#pragma once

#include "compiler/proof/ruleset.h"

namespace bulkhead::compiler::proof {

// For rulesets listed from a text that was loaded elsewhere.
void doubt_interface_numbers(Ruleset& ruleset);

}  // namespace bulkhead::compiler::proof
