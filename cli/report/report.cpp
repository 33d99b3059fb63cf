#include "cli/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/report/says.h"
#include "cli/support/exit_code.h"
#include "cli/support/version.h"

namespace bulkhead::cli {
namespace {

using probes::Finding;

std::string describe(const compiler::Probe& probe) {
  std::string what(compiler::to_string(probe.transport));
  if (probe.transport == compiler::Transport::Icmp) {
    what += fmt::format(" {}", policy::kIcmpQueries[probe.port].name);
  } else {
    what += fmt::format(" {}", probe.port);
  }
  return fmt::format("{} {} {} → {} {}", what, probe.from.host, probe.from.address.str(),
                     probe.to.host, probe.to.address.str());
}

CellReport::Intent intent_of(const policy::Cell* cell) {
  if (cell && cell->everything)
    return CellReport::Intent::Everything;
  const bool some =
      cell && std::any_of(cell->pieces.begin(), cell->pieces.end(),
                          [](const auto& p) { return p.action == policy::Action::Allow; });
  return some ? CellReport::Intent::Some : CellReport::Intent::Deny;
}

// Worst of the probes, and the sentence of the worst.
void add_verdict(CellReport& cell, const compiler::Probe& probe, const probes::Verdict& verdict,
                 std::size_t index) {
  if (cell.probes == 0)
    cell.finding = Finding::Conforms;
  ++cell.probes;
  if (verdict.finding == Finding::Conforms)
    return;
  if (verdict.finding > cell.finding || cell.bad.empty()) {
    cell.finding = verdict.finding;
    cell.reason = fmt::format("{}: {}", describe(probe), verdict.reason);
    cell.bad.insert(cell.bad.begin(), index);
  } else {
    cell.bad.push_back(index);
  }
}

// What honest probes cannot show: that a control is on the path at all, and that a forged source
// would be told apart. Only ever weakens a cell that conforms.
void apply_coverage(CellReport& cell, const compiler::CellCoverage& coverage) {
  if (cell.finding != Finding::Conforms || cell.intent == CellReport::Intent::Everything)
    return;
  if (coverage.cause == compiler::Cause::None) {
    cell.finding = Finding::NotCovered;
    cell.reason = coverage.reason.empty() ? "nothing separates the two" : coverage.reason;
  } else if (!coverage.not_separated_from.empty()) {
    cell.finding = Finding::NotCovered;
    cell.reason = fmt::format("not separated from {}, which may do what this class may not",
                              coverage.not_separated_from);
  }
}

void conclude(Report& report, const ReportOptions& options) {
  std::vector<Finding> fail_on = options.fail_on;
  if (fail_on.empty())
    fail_on = {Finding::Outage};
  fail_on.push_back(Finding::Leak);  // outranks everything, whatever was asked

  std::string found, undecided;
  const auto add = [&](std::string& list, Finding finding, std::uint32_t count) {
    if (count > 0)
      list += fmt::format("{}{} {}", list.empty() ? "" : ", ", count, to_string(finding));
  };
  for (const Finding finding : {Finding::Leak, Finding::Outage, Finding::Inconclusive,
                                Finding::Silent, Finding::NotCovered}) {
    const bool fails = std::find(fail_on.begin(), fail_on.end(), finding) != fail_on.end();
    if (fails) {
      add(found, finding, report.count(finding));
    } else if (finding == Finding::Inconclusive) {
      add(undecided, finding, report.count(finding));
    } else if (finding == Finding::Silent) {
      add(undecided, finding, report.count(finding) - report.accepted);
    }
  }
  if (report.coverage_percent < report.min_coverage)
    undecided += fmt::format("{}coverage {:.1f} % of the asked {} %", undecided.empty() ? "" : ", ",
                             report.coverage_percent, report.min_coverage);
  if (!found.empty()) {
    report.exit_code = kExitFindings;
    report.conclusion = found;
  } else if (!undecided.empty()) {
    report.exit_code = kExitInconclusive;
    report.conclusion = undecided;
  } else {
    report.exit_code = kExitOk;
    report.conclusion = "as intended";
  }
}

}  // namespace

std::string_view to_string(scenarios::Where where) {
  return where == scenarios::Where::Lab ? "lab" : "live";
}

Report make_report(const compiler::Site& site, const scenarios::AuditResult& result,
                   const ReportOptions& options) {
  const auto& classes = site.matrix.universe.classes;
  const std::size_t n = classes.size();
  Report report;
  report.site = site.policy.name;
  report.made = result.where;
  report.as_of = policy::format_date(site.matrix.as_of);
  report.run = options.run;
  report.seed = options.seed;
  report.version = kVersion;
  for (const policy::Class& cls : classes)
    report.classes.push_back(cls.name);
  report.verdicts = result.outcome.verdicts;
  report.probes = result.plan.probes.size();
  report.tries = result.outcome.packets_tried;
  report.retries = result.outcome.retries;
  report.rounds = result.outcome.rounds;
  report.void_rounds = result.outcome.void_rounds;
  report.lab_up = result.lab_up;
  report.probing = result.probing;
  report.lab_down = result.lab_down;
  report.notes = result.outcome.notes;
  report.min_coverage = options.min_coverage;

  for (policy::ClassId from = 0; from < n; ++from) {
    for (policy::ClassId to = 0; to < n; ++to) {
      CellReport cell;
      cell.from = from;
      cell.to = to;
      const policy::Cell* said = site.matrix.find(from, to);
      cell.intent = intent_of(said);
      cell.says = what_flows(said);
      cell.cause = site.coverage.at(from, to).cause;
      report.cells.push_back(std::move(cell));
    }
  }
  for (std::size_t i = 0; i < result.plan.probes.size(); ++i) {
    const compiler::Probe& probe = result.plan.probes[i];
    add_verdict(report.cells[probe.from.cls * n + probe.to.cls], probe, report.verdicts[i], i);
  }
  for (const compiler::Unprobed& unprobed : result.plan.unprobed) {
    CellReport& cell = report.cells[unprobed.from * n + unprobed.to];
    if (cell.probes == 0)
      cell.reason = unprobed.reason;
  }

  std::uint32_t left_out = 0;
  for (CellReport& cell : report.cells) {
    if (cell.probes == 0 && cell.reason.empty()) {
      cell.counts = false;
      cell.reason = "left out by --include or --exclude";
      ++left_out;
      continue;
    }
    apply_coverage(cell, site.coverage.at(cell.from, cell.to));
    ++report.total;
    ++report.counts[static_cast<std::size_t>(cell.finding)];
    report.worst = std::max(report.worst, cell.finding);
  }
  if (left_out > 0)
    report.notes.push_back(
        fmt::format("{} cells were left out by --include or --exclude", left_out));
  if (report.total > 0)
    report.coverage_percent =
        100.0 * (report.total - report.count(Finding::NotCovered)) / report.total;
  conclude(report, options);
  return report;
}

}  // namespace bulkhead::cli
