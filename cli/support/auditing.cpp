#include "cli/support/auditing.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <optional>
#include <random>
#include <set>
#include <utility>

#include "cli/report/formats.h"
#include "cli/support/answer.h"
#include "cli/support/files.h"
#include "cli/support/interrupt.h"
#include "cli/support/output_file.h"
#include "cli/support/progress.h"
#include "cli/support/site_argument.h"
#include "compiler/probe_book.h"
#include "compiler/probe_tags.h"
#include "scenarios/audit.h"

namespace bulkhead::cli {
namespace {

bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code absent;
  return !a.empty() && (std::filesystem::equivalent(a, b, absent) ||
                        std::filesystem::absolute(a, absent).lexically_normal() ==
                            std::filesystem::absolute(b, absent).lexically_normal());
}

// A tag that no probe could carry is a slip of the pen, and would ask for nothing.
Status check_tags(const compiler::Site& site, const Settings& settings) {
  const std::set<std::string> known = compiler::probe_tags(site);
  for (const auto* asked : {&settings.include, &settings.exclude}) {
    for (const std::string& tag : *asked) {
      if (known.contains(tag))
        continue;
      const std::string hint = did_you_mean(tag, {known.begin(), known.end()});
      return fail(
          ErrorKind::Usage,
          fmt::format("no probe of this site can have tag `{}`: {}", printable(tag),
                      hint.empty() ? "a tag is a class, a segment, a tenant, a transport, a "
                                     "family, a rule, `allow` or `deny`"
                                   : hint));
    }
  }
  return {};
}

// What a plan does not name nobody asked for: it is not missing.
void leave_the_rest_out(const compiler::Site& site, compiler::ProbePlan& plan) {
  std::set<std::pair<policy::ClassId, policy::ClassId>> named;
  for (const compiler::Probe& probe : plan.probes)
    named.emplace(probe.from.cls, probe.to.cls);
  for (const compiler::Unprobed& unprobed : plan.unprobed)
    named.emplace(unprobed.from, unprobed.to);
  const auto n = static_cast<policy::ClassId>(site.matrix.universe.classes.size());
  for (policy::ClassId from = 0; from < n; ++from)
    for (policy::ClassId to = 0; to < n; ++to)
      if (!named.contains({from, to}))
        plan.unprobed.push_back({from, to, "", "not in the plan", false, true});
}

// Of --plan: these probes alone. Nothing without it.
Result<std::optional<compiler::ProbePlan>> plan_of(const compiler::Site& site,
                                                   const Settings& settings) {
  if (settings.plan.empty())
    return std::optional<compiler::ProbePlan>();
  if (!settings.include.empty() || !settings.exclude.empty())
    return fail(ErrorKind::Usage,
                "--plan names each probe; --include and --exclude choose among all");
  const auto text = read_file(settings.plan);
  if (!text)
    return fail(text.error());
  const auto book = compiler::book_from_json(*text, site);
  if (!book)
    return fail(ErrorKind::Usage, settings.plan + ": " + book.error().message);
  auto plan = compiler::probes_of(*book);
  leave_the_rest_out(site, plan);
  return std::optional(std::move(plan));
}

}  // namespace

std::string made_up_run() {
  constexpr std::string_view kAlphabet = "abcdefghijkmnpqrstuvwxyz23456789";
  std::random_device random;
  std::string run;
  for (int i = 0; i < 4; ++i)
    run += kAlphabet[random() % kAlphabet.size()];
  return run;
}

std::vector<std::string_view> audit_options() {
  return {"on",     "as-of",    "run",          "seed",    "timeout", "include", "exclude",
          "plan",   "fail-on",  "min-coverage", "agent",   "ssh",     "sudo",    "format",
          "output", "evidence", "quiet",        "verbose", "color"};
}

Result<int> run_audit(const Settings& settings, Scope scope) {
  if (!settings.on)
    return fail(ErrorKind::Usage,
                "say where: --on lab (namespaces on this machine) or --on live (the real hosts)");
  auto site = open_site(settings);
  if (!site)
    return fail(site.error());

  if (Status known = check_tags(*site, settings); !known)
    return fail(known.error());
  auto only = plan_of(*site, settings);
  if (!only)
    return fail(only.error());

  std::optional<OutputFile> evidence;
  if (!settings.evidence.empty()) {
    if (is_same_file(settings.output, settings.evidence))
      return fail(ErrorKind::Usage, "--output and --evidence name the same file");
    auto opened = OutputFile::open(settings.evidence);
    if (!opened)
      return fail(opened.error());
    evidence.emplace(std::move(*opened));
  }

  Progress progress(!settings.quiet);
  scenarios::AuditOptions options;
  options.where = *settings.on;
  options.as_it_stands = scope == Scope::AsItStands;
  options.agent_program = settings.agent;
  options.ssh_command = settings.ssh;
  options.sudo = settings.sudo;
  options.only = std::move(*only);
  options.plan.seed = settings.seed;
  options.plan.outside_hosts = *settings.on == scenarios::Where::Lab;
  options.plan.include = settings.include;
  options.plan.exclude = settings.exclude;
  options.conduct.run = settings.run.empty() ? made_up_run() : settings.run;
  options.conduct.seed = settings.seed;
  options.conduct.deadline = deadline_of(settings);
  options.conduct.stop = &interrupted();
  options.conduct.progress = [&](std::size_t done, std::size_t total) {
    progress.update(done, total);
  };
  if (evidence)
    options.conduct.evidence_line = [&](const std::string& line) {
      evidence->append(line);
      evidence->append("\n");
    };
  options.stage = [&](const std::string& stage) { progress.stage(stage); };

  const auto result = scenarios::audit(*site, options);
  progress.clear();
  if (evidence)
    if (Status written = evidence->finish(); !written)
      return fail(written.error());
  if (!result)
    return fail(result.error());

  ReportOptions report_options;
  report_options.fail_on = settings.fail_on;
  report_options.min_coverage = settings.min_coverage.value_or(site->inventory.probe.min_coverage);
  report_options.run = options.conduct.run;
  report_options.seed = settings.seed;
  report_options.asked = {settings.include, settings.exclude, settings.plan};
  const Report report = make_report(*site, *result, report_options);
  if (Status written = answer(settings, render_report(settings.format, report, view_of(settings)));
      !written)
    return fail(written.error());
  if (!settings.output.empty() && !settings.quiet)
    std::fputs(fmt::format("exit {}: {}\n", report.exit_code, report.conclusion).c_str(), stderr);
  return report.exit_code;
}

}  // namespace bulkhead::cli
