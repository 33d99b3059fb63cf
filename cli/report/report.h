// The finished answer of an audit or a probe run. Every format (text, json, junit) is rendered from
// this one value; none computes anything of its own.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/site.h"
#include "probes/judge.h"
#include "scenarios/audit.h"

namespace bulkhead::cli {

struct CellReport {
  policy::ClassId from = 0, to = 0;
  bool probed = false;
  probes::Finding finding =
      probes::Finding::NotCovered;  // worst of its probes, coverage considered
  compiler::Cause cause = compiler::Cause::None;
  std::string says;    // "allow tcp 22, 443", "deny", "open"
  std::string reason;  // one line for each cell that does not conform
  std::uint32_t probes = 0;
  std::vector<std::size_t> bad;  // indices into `verdicts` that do not conform
};

struct Report {
  std::string site;
  scenarios::Where made = scenarios::Where::Lab;
  std::string as_of, run, version;
  std::uint64_t seed = 0;
  std::vector<std::string> classes;
  std::vector<CellReport> cells;  // dense, row = from
  std::vector<probes::Verdict> verdicts;
  std::array<std::uint32_t, 6> counts{};  // by Finding, over cells
  std::uint32_t probed = 0;
  double coverage_percent = 0;
  std::uint64_t probes = 0, tries = 0, retries = 0;
  std::uint32_t rounds = 0, void_rounds = 0;
  double seconds = 0;
  probes::Finding worst = probes::Finding::Conforms;
  std::vector<std::string> notes;
  int exit_code = 0;
};

struct ReportOptions {
  std::vector<probes::Finding> fail_on;  // default: Leak, Outage
  std::uint32_t min_coverage = 100;
};
[[nodiscard]] Report make_report(const compiler::Site& site, const scenarios::AuditResult& result,
                                 const ReportOptions& options);

[[nodiscard]] std::string to_text(const Report& report, bool color, int width);
[[nodiscard]] std::string to_json(const Report& report);
[[nodiscard]] std::string to_junit(const Report& report);

}  // namespace bulkhead::cli
