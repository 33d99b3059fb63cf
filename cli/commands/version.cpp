#include "cli/support/version.h"

#include <fmt/format.h>

#include "cli/commands/verbs.h"
#include "cli/support/answer.h"
#include "cli/support/exit_code.h"

namespace bulkhead::cli {
namespace {

Result<int> run(const Settings& settings) {
  if (Status written = answer(settings, fmt::format("bulkhead {}\n", kVersion)); !written)
    return fail(written.error());
  return kExitOk;
}

}  // namespace

Verb version_verb() {
  return {
      .name = "version",
      .summary = "Print the version",
      .details = "Prints the version of this program; its agents must be of the same.",
      .example = "  bulkhead version\n",
      .argument_count = 0,
      .run = run,
  };
}

}  // namespace bulkhead::cli
