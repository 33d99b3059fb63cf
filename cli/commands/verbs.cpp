#include "cli/commands/verbs.h"

namespace bulkhead::cli {

std::span<const Verb> verbs() {
  // In the order in which a site is made and used.
  static const Verb kVerbs[] = {
      check_verb(), matrix_verb(), explain_verb(), compile_verb(), version_verb(),
  };
  return kVerbs;
}

}  // namespace bulkhead::cli
