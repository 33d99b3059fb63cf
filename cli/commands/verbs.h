// One function for each file here: the verb's row. verbs.cpp is the table.
#pragma once

#include "cli/support/verb.h"

namespace bulkhead::cli {

[[nodiscard]] Verb check_verb();
[[nodiscard]] Verb compile_verb();
[[nodiscard]] Verb matrix_verb();
[[nodiscard]] Verb explain_verb();
[[nodiscard]] Verb prove_verb();
[[nodiscard]] Verb diff_verb();
[[nodiscard]] Verb query_verb();
[[nodiscard]] Verb lint_verb();
[[nodiscard]] Verb audit_verb();
[[nodiscard]] Verb probe_verb();
[[nodiscard]] Verb faults_verb();
[[nodiscard]] Verb lab_up_verb();
[[nodiscard]] Verb lab_list_verb();
[[nodiscard]] Verb lab_down_verb();
[[nodiscard]] Verb lab_exec_verb();
[[nodiscard]] Verb import_csv_verb();
[[nodiscard]] Verb version_verb();

}  // namespace bulkhead::cli
