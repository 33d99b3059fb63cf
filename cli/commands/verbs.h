// One function for each file here: the verb's row. verbs.cpp is the table.
#pragma once

#include "cli/support/verb.h"

namespace bulkhead::cli {

[[nodiscard]] Verb check_verb();
[[nodiscard]] Verb compile_verb();
[[nodiscard]] Verb matrix_verb();
[[nodiscard]] Verb explain_verb();
[[nodiscard]] Verb version_verb();

}  // namespace bulkhead::cli
