#include <fmt/format.h>

#include <cstdio>

#include "cli/commands/verbs.h"
#include "cli/report/proof.h"
#include "cli/support/answer.h"
#include "cli/support/files.h"
#include "cli/support/site_argument.h"
#include "compiler/probe_counterexample.h"

namespace bulkhead::cli {
namespace {

// The counterexamples that hosts can send, as a plan; the others are told in the report.
Status write_probes(const compiler::Site& site, const std::vector<scenarios::EnforcerProof>& proofs,
                    const Settings& settings) {
  if (settings.probes.empty())
    return {};
  compiler::ProbeBook book;
  std::size_t sent = 0, all = 0;
  for (const scenarios::EnforcerProof& proven : proofs)
    for (const compiler::EnforcerView& view : site.coverage.views)
      if (view.enforcer == proven.enforcer)
        for (const scenarios::EnforcerProof::Part& part : proven.parts) {
          sent += compiler::add_counterexamples(site, view, part.differences.findings, book);
          for (const compiler::proof::Finding& finding : part.differences.findings)
            all += finding.differences.size();
        }
  if (Status written = write_file(settings.probes, compiler::to_json(book, site)); !written)
    return fail(written.error());
  if (!settings.quiet)
    std::fputs(fmt::format("{}: {} of {} example packets; -v says why the others cannot be sent\n",
                           settings.probes, sent, all)
                   .c_str(),
               stderr);
  return {};
}

Result<int> run(const Settings& settings) {
  if (settings.live && !settings.ruleset.empty())
    return fail(ErrorKind::Usage, "--ruleset and --live are two questions: ask one at a time");
  auto site = open_site(settings);
  if (!site)
    return fail(site.error());
  scenarios::ProvingOptions options;
  options.enforcer = settings.enforcer;
  options.file = settings.ruleset;
  options.ssh_command = settings.ssh;
  options.sudo = settings.sudo;
  if (settings.live)
    options.rules = scenarios::RulesOf::Live;
  else if (!settings.ruleset.empty())
    options.rules = scenarios::RulesOf::File;
  const auto proofs = scenarios::prove(*site, options);
  if (!proofs)
    return fail(proofs.error());
  if (Status written = write_probes(*site, *proofs, settings); !written)
    return fail(written.error());
  const Renderings<std::vector<scenarios::EnforcerProof>> renderings{proof_text, proof_json,
                                                                     proof_junit};
  if (Status written = answer(settings, *proofs, renderings); !written)
    return fail(written.error());
  return proof_exit(*proofs);
}

}  // namespace

Verb prove_verb() {
  return {
      .name = "prove",
      .arguments = "SITE",
      .summary = "Decide for all packets whether rules do what the policy says",
      .details =
          "Models the compiled rules, or those of --ruleset or --live, and compares them with the\n"
          "flow matrix: what opens, what closes, each with an example packet and the rules that\n"
          "decide. No packet is sent. The kernel is the parser: rules are loaded into a network\n"
          "namespace that is thrown away. --probes writes the example packets as a plan that\n"
          "`probe --plan` sends. Exit 0: equal; 1: differences; 4: not decided.",
      .example =
          "  bulkhead prove scenarios/two-tenants\n"
          "  bulkhead prove scenarios/two-tenants --ruleset /etc/nftables.conf --enforcer fw\n"
          "  bulkhead prove mysite --live\n",
      .options = {"ruleset", "enforcer", "live", "probes", "ssh", "sudo", "as-of", "format",
                  "output", "quiet", "verbose", "color"},
      .formats = {"text", "json", "junit"},
      .run = run,
  };
}

}  // namespace bulkhead::cli
