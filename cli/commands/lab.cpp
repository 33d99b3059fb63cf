#include "scenarios/lab.h"

#include <fmt/format.h>

#include <cstdio>

#include "cli/commands/verbs.h"
#include "cli/support/answer.h"
#include "cli/support/auditing.h"
#include "cli/support/exit_code.h"
#include "cli/support/site_argument.h"
#include "compiler/compile.h"
#include "scenarios/audit.h"
#include "scenarios/lab_state.h"

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

// Labs that stay, of one site or of all. Those of a run in progress are nobody's to enter.
std::string runs_of(const std::string& site) {
  std::string runs;
  for (const scenarios::LabRecord& record : scenarios::all_records())
    if (record.persistent && record.site == site)
      runs += fmt::format("{}{}", runs.empty() ? "" : ", ", record.run);
  return runs.empty() ? "there is none of this site" : "there is --run " + runs;
}

Result<std::unique_ptr<Lab>> find(const Settings& settings) {
  auto site = open_site(settings);
  if (!site)
    return fail(site.error());
  const std::string known = runs_of(site->policy.name);
  if (settings.run.empty())
    return fail(ErrorKind::Usage, "which lab? say its --run NAME: " + known);
  auto lab = Lab::find(*site, settings.run);
  if (!lab)
    return fail(Error{lab.error().kind, lab.error().message + ": " + known});
  return lab;
}

Result<int> list(const Settings& settings) {
  std::string text;
  for (const scenarios::LabRecord& record : scenarios::all_records())
    text += fmt::format(
        "{}  --run {}  {} hosts{}\n", printable(record.site), record.run, record.hosts.size(),
        record.persistent                ? ""
        : scenarios::owner_lives(record) ? "  (of a run in progress)"
                                         : "  (left over; the next run removes it)");
  if (text.empty() && !settings.quiet)
    text = "no lab is up on this machine\n";
  if (Status written = answer(settings, text); !written)
    return fail(written.error());
  return kExitOk;
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
  std::string why_not;
  auto status = (*lab)->exec(settings.arguments[1], settings.command, &why_not);
  if (!why_not.empty())
    std::fputs(fmt::format("bulkhead: {}\n", printable(why_not)).c_str(), stderr);
  return status;
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

Verb lab_list_verb() {
  return {
      .name = "lab list",
      .arguments = "",
      .summary = "Show the labs that are up on this machine",
      .details = "A line for each lab: its site, its run, how many hosts it has.",
      .example = "  bulkhead lab list\n",
      .argument_count = 0,
      .options = {"output", "quiet", "color"},
      .run = list,
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
      .details =
          "Runs it in the host's namespace and exits as the command does; as a shell with 127 "
          "where\n"
          "there is no such program, with 126 where it cannot be run.",
      .example =
          "  sudo bulkhead lab exec scenarios/two-tenants fw --run demo -- nft list ruleset\n",
      .argument_count = 2,
      .options = {"run", "as-of", "quiet", "color"},
      .run = exec,
  };
}

}  // namespace bulkhead::cli
