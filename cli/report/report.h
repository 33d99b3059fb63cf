// The finished answer of an audit or a probe run: probes rolled up into cells, cells into counts,
// counts into an exit code. Every format (formats.h) is rendered from this one value; none computes
// anything of its own.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/site.h"
#include "probes/judge.h"
#include "scenarios/audit.h"

namespace bulkhead::cli {

inline constexpr std::size_t kFindings = 6;  // enumerators of probes::Finding

struct CellReport {
  enum class Intent { Deny, Some, Everything };
  policy::ClassId from = 0, to = 0;
  Intent intent = Intent::Deny;
  std::string says;  // "tcp 22, 443; icmp echo", "nothing", "everything"
  // False where --include/--exclude left the cell out, or where nothing could flow at all (one host
  // and itself, no common family). Only cells that count are in the counts.
  bool counts = true;
  probes::Finding finding = probes::Finding::NotCovered;
  bool accepted = false;  // Silent only: the control's owner vouches for it (accept_silence)
  compiler::Cause cause = compiler::Cause::None;
  std::string reason;  // of each cell that does not conform, or does not count
  std::uint32_t probes = 0;
  std::array<std::uint32_t, kFindings> by_finding{};  // the probes of the cell
};

// What of the site was asked: a report of a part must never look like one of the whole.
struct Asked {
  std::vector<std::string> include, exclude;  // tags
  std::string plan;                           // file that names each probe
  [[nodiscard]] bool is_whole() const { return include.empty() && exclude.empty() && plan.empty(); }
  [[nodiscard]] std::string words() const;  // "only red, without tcp"; empty of the whole
};

struct Report {
  std::string site;
  scenarios::Where made = scenarios::Where::Lab;
  std::string as_of, run, version;
  std::uint64_t seed = 0;
  std::vector<std::string> classes;
  std::vector<CellReport> cells;               // dense, row = from
  std::vector<probes::Verdict> verdicts;       // in plan order
  std::vector<probes::SiteFinding> beside;     // of hosts, not of a cell: they fail the audit too
  std::vector<scenarios::MemberProof> proofs;  // of what the enforcers had loaded
  std::array<std::uint32_t, kFindings> counts{};  // by Finding, over cells that count
  std::uint32_t total = 0;                        // cells that count
  std::uint32_t accepted = 0;                     // of Silent
  // Cells that were decided, of those that count: neither inconclusive nor silent without consent.
  double coverage_percent = 0;
  std::uint32_t min_coverage = 100;
  std::uint64_t probes = 0, tries = 0, retries = 0;
  std::uint32_t rounds = 0, void_rounds = 0;
  bool timed_out = false;  // --timeout came before everything was tried
  Asked asked;
  std::chrono::milliseconds lab_up{}, probing{}, lab_down{};
  probes::Finding worst = probes::Finding::Conforms;
  std::vector<std::string> notes;
  int exit_code = 0;
  std::string conclusion;  // the exit code in words

  [[nodiscard]] std::uint32_t count(probes::Finding finding) const {
    return counts[static_cast<std::size_t>(finding)];
  }
  // Silence that the control's owner vouches for counts as decided.
  [[nodiscard]] std::uint32_t decided() const {
    using probes::Finding;
    return count(Finding::Conforms) + count(Finding::Leak) + count(Finding::Outage) + accepted;
  }
  [[nodiscard]] const CellReport& at(std::size_t from, std::size_t to) const {
    return cells[from * classes.size() + to];
  }
};

struct ReportOptions {
  std::vector<probes::Finding> fail_on;  // empty: Leak, Outage; a leak always fails
  std::uint32_t min_coverage = 100;
  std::string run;
  std::uint64_t seed = 1;
  Asked asked;
};

// Precondition: site.ok(), and `result` holds a verdict for each probe of its plan.
[[nodiscard]] Report make_report(const compiler::Site& site, const scenarios::AuditResult& result,
                                 const ReportOptions& options);

[[nodiscard]] std::string_view to_string(scenarios::Where where);                 // "lab", "live"
[[nodiscard]] std::string counted(probes::Finding finding, std::uint32_t count);  // "2 leaks"

}  // namespace bulkhead::cli
