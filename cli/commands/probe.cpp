#include "cli/commands/verbs.h"
#include "cli/report/formats.h"
#include "cli/support/auditing.h"

namespace bulkhead::cli {
namespace {

Result<int> run(const Settings& settings) {
  if (settings.on == scenarios::Where::Lab && settings.run.empty())
    return fail(ErrorKind::Usage,
                "`probe --on lab` wants --run NAME: which lab; `bulkhead lab up` says its name");
  return run_audit(settings, Scope::AsItStands);
}

}  // namespace

Verb probe_verb() {
  return {
      .name = "probe",
      .arguments = "SITE --on lab|live",
      .summary = "Probe what is there, and judge",
      .details =
          "Sends the plan's probes through the rules that are loaded now, whoever loaded them, "
          "and\n"
          "judges them by the policy. Builds and loads nothing. --on lab: a lab that `lab up` "
          "made,\n"
          "named by --run. --plan sends the probes of a file alone, such as the counterexamples\n"
          "that `prove --probes` writes.",
      .example =
          "  sudo bulkhead lab up scenarios/two-tenants --run demo\n"
          "  sudo bulkhead probe scenarios/two-tenants --on lab --run demo\n",
      .options = audit_options(),
      .formats = format_names(),
      .run = run,
  };
}

}  // namespace bulkhead::cli
