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

CellReport::Intent intent_of(const policy::Cell* cell) {
  if (cell && cell->everything)
    return CellReport::Intent::Everything;
  const bool some =
      cell && std::any_of(cell->pieces.begin(), cell->pieces.end(),
                          [](const auto& p) { return p.action == policy::Action::Allow; });
  return some ? CellReport::Intent::Some : CellReport::Intent::Deny;
}

// Silence that the control's owner vouches for is still silence: counted apart from what was seen.
constexpr std::string_view kSilenceAccepted = "silence accepted";

Finding finding_of(const probes::Verdict& verdict) {
  return verdict.kind == kSilenceAccepted ? Finding::Silent : verdict.finding;
}

// The cell is as its worst probe, and says that one's sentence.
void add_verdict(CellReport& cell, const probes::Verdict& verdict) {
  const Finding finding = finding_of(verdict);
  if (cell.probes == 0)
    cell.finding = Finding::Conforms;
  ++cell.probes;
  ++cell.by_finding[static_cast<std::size_t>(finding)];
  if (finding == Finding::Conforms)
    return;
  const bool accepted = verdict.kind == kSilenceAccepted;
  if (finding > cell.finding || (finding == Finding::Silent && cell.accepted && !accepted)) {
    cell.finding = finding;
    cell.accepted = accepted;
    cell.reason = verdict.reason;
  }
}

// A part of the cell that no probe can speak for: the rest of it is no proof of the whole.
void add_unprobed(CellReport& cell, const compiler::Unprobed& unprobed) {
  const bool whole = unprobed.what.empty();
  if (whole && (unprobed.vacuous || unprobed.not_asked))
    cell.counts = false;
  if (unprobed.not_asked || unprobed.vacuous) {
    if (cell.reason.empty())
      cell.reason = unprobed.reason;
    return;
  }
  if (cell.finding <= Finding::NotCovered) {
    const std::string told =
        whole ? unprobed.reason : fmt::format("{}: {}", unprobed.what, unprobed.reason);
    cell.reason =
        cell.reason.empty() || cell.finding == Finding::Conforms ? told : cell.reason + "; " + told;
    cell.finding = Finding::NotCovered;
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
      list += (list.empty() ? "" : ", ") + counted(finding, count);
  };
  for (const Finding finding : {Finding::Leak, Finding::Outage, Finding::Inconclusive,
                                Finding::Silent, Finding::NotCovered}) {
    const bool fails = std::find(fail_on.begin(), fail_on.end(), finding) != fail_on.end();
    const auto beside = static_cast<std::uint32_t>(
        std::count_if(report.beside.begin(), report.beside.end(),
                      [&](const auto& other) { return other.finding == finding; }));
    std::uint32_t count = report.count(finding) + beside;
    if (finding == Finding::Silent)
      count -= report.accepted;
    if (fails)
      add(found, finding, count);
    else if (finding == Finding::Inconclusive || finding == Finding::Silent)
      add(undecided, finding, count);
  }
  for (const scenarios::MemberProof& proven : report.proofs) {
    if (proven.state == scenarios::MemberProof::State::Equal)
      continue;
    const bool different = proven.state == scenarios::MemberProof::State::Different;
    std::string& list = different ? found : undecided;
    list += fmt::format("{}rules of {} {}", list.empty() ? "" : ", ", proven.member,
                        different ? "differ from the policy" : "not proven");
  }
  if (report.timed_out)
    undecided.insert(0, undecided.empty() ? "timed out" : "timed out, ");
  if (report.probes == 0)
    undecided += fmt::format("{}nothing was probed", undecided.empty() ? "" : ", ");
  if (report.coverage_percent < report.min_coverage)
    undecided += fmt::format("{}coverage {:.1f} % of the asked {} %", undecided.empty() ? "" : ", ",
                             report.coverage_percent, report.min_coverage);
  if (!found.empty()) {
    report.exit_code = kExitFindings;
    report.conclusion = report.timed_out ? found + ", timed out" : found;
  } else if (!undecided.empty()) {
    report.exit_code = kExitInconclusive;
    report.conclusion = undecided;
  } else {
    report.exit_code = kExitOk;
    report.conclusion = "as intended";
  }
  if (!report.asked.is_whole())
    report.conclusion += fmt::format(" (asked was {})", report.asked.words());
}

}  // namespace

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
  report.timed_out = result.outcome.timed_out;
  report.asked = options.asked;
  report.notes = result.outcome.notes;
  report.beside = result.outcome.findings;
  report.proofs = result.proofs;
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
    add_verdict(report.cells[probe.from.cls * n + probe.to.cls], report.verdicts[i]);
  }
  for (const compiler::Unprobed& unprobed : result.plan.unprobed)
    add_unprobed(report.cells[unprobed.from * n + unprobed.to], unprobed);

  for (CellReport& cell : report.cells) {
    if (!cell.counts)
      continue;
    apply_coverage(cell, site.coverage.at(cell.from, cell.to));
    if (cell.finding == Finding::Conforms)
      cell.reason.clear();
    ++report.total;
    ++report.counts[static_cast<std::size_t>(cell.finding)];
    report.accepted += cell.accepted ? 1 : 0;
    report.worst = std::max(report.worst, cell.finding);
  }
  for (const probes::SiteFinding& finding : report.beside)
    report.worst = std::max(report.worst, finding.finding);
  if (report.total > 0)
    report.coverage_percent = 100.0 * report.decided() / report.total;
  conclude(report, options);
  return report;
}

}  // namespace bulkhead::cli
