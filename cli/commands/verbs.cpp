#include "cli/commands/verbs.h"

namespace bulkhead::cli {

std::span<const Verb> verbs() {
  // In the order in which a site is made and used.
  static const Verb kVerbs[] = {
      check_verb(),      matrix_verb(),  explain_verb(),  compile_verb(),  prove_verb(),
      diff_verb(),       query_verb(),   lint_verb(),     audit_verb(),    probe_verb(),
      faults_verb(),     lab_up_verb(),  lab_list_verb(), lab_down_verb(), lab_exec_verb(),
      import_csv_verb(), version_verb(),
  };
  return kVerbs;
}

}  // namespace bulkhead::cli
