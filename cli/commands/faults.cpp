#include "scenarios/faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/commands/verbs.h"
#include "cli/support/answer.h"
#include "cli/support/auditing.h"
#include "cli/support/exit_code.h"
#include "cli/support/interrupt.h"
#include "cli/support/progress.h"
#include "cli/support/site_argument.h"

namespace bulkhead::cli {
namespace {

using scenarios::Fault;
using scenarios::FaultOutcome;

Result<std::vector<Fault>> read_faults(compiler::Site& site, const Settings& settings) {
  const std::string folder = settings.arguments.front();
  std::vector<Fault> faults = scenarios::load_faults(site);
  std::fputs(diagnostics_text(site, settings).c_str(), stderr);
  if (!site.ok())
    return fail(ErrorKind::Usage,
                fmt::format("{}: {}, nothing was done", folder, errors_in_words(site)));
  std::erase_if(faults, [&](const Fault& fault) {
    const auto named = [&](const std::vector<std::string>& ids) {
      return std::find(ids.begin(), ids.end(), fault.id) != ids.end();
    };
    return named(settings.exclude) || (!settings.include.empty() && !named(settings.include));
  });
  if (faults.empty())
    return fail(ErrorKind::Usage, folder + ": no fault of this name in its faults.toml");
  return faults;
}

struct ByProof {
  std::size_t changed = 0, noticed = 0;
  std::vector<const FaultOutcome*> missed;
};
ByProof noticed_by_proof(const std::vector<FaultOutcome>& outcomes) {
  ByProof out;
  for (const FaultOutcome& outcome : outcomes) {
    if (!outcome.changes_rules)
      continue;
    ++out.changed;
    if (outcome.proof_noticed())
      ++out.noticed;
    else
      out.missed.push_back(&outcome);
  }
  return out;
}

// Who noticed a break, where that is not plain from the finding of the probes.
std::string who_noticed(const FaultOutcome& outcome) {
  const bool probes = outcome.found != probes::Finding::Conforms;
  if (!probes && outcome.proof_noticed())
    return fmt::format("the proof noticed it ({}), no probe did", outcome.proof_reason);
  if (!probes)
    return "nothing was noticed";
  return outcome.caught ? std::string() : outcome.reason;
}

std::string faults_text(const std::vector<FaultOutcome>& outcomes, std::size_t caught, bool color) {
  std::size_t widest = 0;
  for (const FaultOutcome& outcome : outcomes)
    widest = std::max(widest, columns(outcome.id));
  std::string text;
  for (const FaultOutcome& outcome : outcomes) {
    text += fmt::format(
        "  {}  {:<{}}  {:<12}  {}\n",
        outcome.caught ? paint("caught", Style::Good, color) : paint("MISSED", Style::Bad, color),
        printable(outcome.id), widest, probes::to_string(outcome.found), printable(outcome.what));
    if (const std::string who = who_noticed(outcome); !who.empty())
      text += fmt::format("          {}\n", printable(who));
  }
  text += fmt::format("\n  caught/injected {}/{}\n", caught, outcomes.size());
  const ByProof by_proof = noticed_by_proof(outcomes);
  text += fmt::format("  the proof noticed {}/{} of those that change rules\n", by_proof.noticed,
                      by_proof.changed);
  for (const FaultOutcome* missed : by_proof.missed)
    text +=
        fmt::format("          not {}: {}; what the change does to a packet, the policy allows\n",
                    printable(missed->id), printable(missed->proof_reason));
  return text;
}

std::string faults_json(const std::vector<FaultOutcome>& outcomes, std::size_t caught) {
  const ByProof by_proof = noticed_by_proof(outcomes);
  nlohmann::ordered_json json{{"schema", "bulkhead.faults/1"},
                              {"injected", outcomes.size()},
                              {"caught", caught},
                              {"change_rules", by_proof.changed},
                              {"noticed_by_proof", by_proof.noticed}};
  json["faults"] = nlohmann::ordered_json::array();
  for (const FaultOutcome& outcome : outcomes)
    json["faults"].push_back({{"id", outcome.id},
                              {"what", outcome.what},
                              {"caught", outcome.caught},
                              {"found", probes::to_string(outcome.found)},
                              {"reason", printable(outcome.reason)},
                              {"changes_rules", outcome.changes_rules},
                              {"proof_noticed", outcome.proof_noticed()},
                              {"proof", compiler::proof::to_string(outcome.proof)},
                              {"proof_reason", printable(outcome.proof_reason)}});
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Result<int> run(const Settings& settings) {
  compiler::Site site = load_site(settings);
  const auto faults = read_faults(site, settings);
  if (!faults)
    return fail(faults.error());

  Progress progress(!settings.quiet);
  progress.stage("faults");
  scenarios::AuditOptions options;
  options.agent_program = settings.agent;
  options.plan.seed = settings.seed;
  options.conduct.run = settings.run.empty() ? made_up_run() : settings.run;
  options.conduct.seed = settings.seed;
  options.conduct.deadline = deadline_of(settings);
  options.conduct.stop = &interrupted();
  std::size_t done = 0;
  const auto outcomes = scenarios::run_faults(site, *faults, options, [&](const FaultOutcome&) {
    progress.update(++done, faults->size());
  });
  progress.clear();
  if (!outcomes)
    return fail(outcomes.error());

  const auto caught = static_cast<std::size_t>(std::count_if(
      outcomes->begin(), outcomes->end(), [](const FaultOutcome& o) { return o.caught; }));
  Status written = answer(settings, settings.format == "json"
                                        ? faults_json(*outcomes, caught)
                                        : faults_text(*outcomes, caught, view_of(settings).color));
  if (!written)
    return fail(written.error());
  return caught == outcomes->size() ? kExitOk : kExitFindings;
}

}  // namespace

Verb faults_verb() {
  return {
      .name = "faults",
      .arguments = "SITE",
      .summary = "Break the rules on purpose, and see whether the audit notices",
      .details =
          "For each fault of the site's faults.toml: a lab of its own, the break, an audit of the\n"
          "cell in question. Exit 1 where one was missed. --include and --exclude take fault ids.\n"
          "The count of the proof is over the faults that change an enforcer's rules. Needs root.",
      .example = "  sudo bulkhead faults scenarios/two-tenants\n",
      .options = {"include", "exclude", "as-of", "run", "seed", "timeout", "agent", "format",
                  "output", "quiet", "color"},
      .formats = {"text", "json"},
      .run = run,
  };
}

}  // namespace bulkhead::cli
