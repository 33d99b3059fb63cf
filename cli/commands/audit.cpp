#include "cli/commands/verbs.h"
#include "cli/report/formats.h"
#include "cli/support/auditing.h"

namespace bulkhead::cli {
namespace {

Result<int> run(const Settings& settings) {
  return run_audit(settings, Scope::WholeLine);
}

}  // namespace

Verb audit_verb() {
  return {
      .name = "audit",
      .arguments = "SITE --on lab|live",
      .summary = "Compile, load, probe, judge and report",
      .details =
          "--on lab builds the site out of network namespaces on this machine, loads the compiled\n"
          "rulesets and sends every probe between real sockets; everything is removed afterwards.\n"
          "--on live sends the same probes between the real hosts, by ssh; it loads nothing but a\n"
          "table of its own that traces the probes, and removes it. Needs root for the lab.",
      .example =
          "  sudo bulkhead audit scenarios/two-tenants --on lab\n"
          "  bulkhead audit site --on live --format junit --output audit.xml\n",
      .options = audit_options(),
      .formats = format_names(),
      .run = run,
  };
}

}  // namespace bulkhead::cli
