#include "scenarios/lab.h"

#include <fmt/format.h>

#include "cli/commands/verbs.h"
#include "cli/support/answer.h"
#include "cli/support/auditing.h"
#include "cli/support/exit_code.h"
#include "cli/support/site_argument.h"
#include "compiler/compile.h"
#include "scenarios/audit.h"

namespace bulkhead::cli {
namespace {

using scenarios::Lab;

Result<int> up(const Settings& settings) {
  auto site = open_site(settings);
  if (!site)
    return fail(site.error());
  scenarios::LabOptions options;
  options.run = settings.run.empty() ? made_up_run() : settings.run;
  options.persistent = true;
  auto lab = Lab::up(*site, options);
  if (!lab)
    return fail(lab.error());
  if (Status loaded = (*lab)->load_rules(scenarios::rulesets(compiler::compile(*site, {})));
      !loaded) {
    (void)(*lab)->down();  // the first failure is the one to tell
    return fail(loaded.error());
  }
  std::string text = (*lab)->run() + "\n";  // all that a script needs to find it again
  if (!settings.quiet) {
    text = fmt::format("{} is up, run {}:\n", site->policy.name, (*lab)->run());
    for (const std::string& host : (*lab)->hosts())
      text += fmt::format("  {:<24} {}\n", host, (*lab)->netns_path(host));
  }
  if (Status written = answer(settings, text); !written)
    return fail(written.error());
  return kExitOk;
}

Result<std::unique_ptr<Lab>> find(const Settings& settings) {
  if (settings.run.empty())
    return fail(ErrorKind::Usage, "which lab? --run NAME, as `lab up` said");
  auto site = open_site(settings);
  if (!site)
    return fail(site.error());
  return Lab::find(*site, settings.run);
}

Result<int> down(const Settings& settings) {
  auto lab = find(settings);
  if (!lab)
    return fail(lab.error());
  if (Status removed = (*lab)->down(); !removed)
    return fail(removed.error());
  return kExitOk;
}

Result<int> exec(const Settings& settings) {
  if (settings.command.empty())
    return fail(ErrorKind::Usage, "which command? `lab exec SITE HOST -- COMMAND ...`");
  auto lab = find(settings);
  if (!lab)
    return fail(lab.error());
  return (*lab)->exec(settings.arguments[1], settings.command);
}

}  // namespace

Verb lab_up_verb() {
  return {
      .name = "lab up",
      .arguments = "SITE",
      .summary = "Build a site out of network namespaces, and leave it up",
      .details =
          "A namespace for each host and enforcer, named bh-SITE-RUN-HOST, with the compiled\n"
          "rulesets loaded. Stays until `lab down`. -q prints nothing but the run's name. Needs\n"
          "root.",
      .example = "  sudo bulkhead lab up scenarios/two-tenants --run demo\n",
      .options = {"run", "as-of", "output", "quiet", "color"},
      .run = up,
  };
}

Verb lab_down_verb() {
  return {
      .name = "lab down",
      .arguments = "SITE",
      .summary = "Remove a lab",
      .details = "Ends what runs in the lab's namespaces and removes them.",
      .example = "  sudo bulkhead lab down scenarios/two-tenants --run demo\n",
      .options = {"run", "as-of", "quiet", "color"},
      .run = down,
  };
}

Verb lab_exec_verb() {
  return {
      .name = "lab exec",
      .arguments = "SITE HOST -- COMMAND...",
      .summary = "Run a command on a host of a lab",
      .details = "Runs it in the host's namespace and exits as the command does.",
      .example =
          "  sudo bulkhead lab exec scenarios/two-tenants fw --run demo -- nft list ruleset\n",
      .argument_count = 2,
      .options = {"run", "as-of", "quiet", "color"},
      .run = exec,
  };
}

}  // namespace bulkhead::cli
