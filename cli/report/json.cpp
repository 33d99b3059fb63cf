#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/report/formats.h"
#include "cli/support/terminal.h"

namespace bulkhead::cli {
namespace {

using nlohmann::ordered_json;
using probes::Finding;

constexpr Finding kAllFindings[] = {Finding::Conforms,     Finding::Leak,   Finding::Outage,
                                    Finding::Inconclusive, Finding::Silent, Finding::NotCovered};

std::string_view intent_name(CellReport::Intent intent) {
  switch (intent) {
    case CellReport::Intent::Deny:
      return "deny";
    case CellReport::Intent::Some:
      return "some";
    case CellReport::Intent::Everything:
      return "everything";
  }
  return "deny";
}

// Reasons may quote what a remote host said: never let a broken byte stop a report.
ordered_json text(std::string_view value) {
  return printable(value);
}

ordered_json cell_json(const Report& report, const CellReport& cell) {
  ordered_json json{{"from", text(report.classes[cell.from])},
                    {"to", text(report.classes[cell.to])},
                    {"intent", intent_name(cell.intent)},
                    {"allowed", text(cell.says)},
                    {"finding", cell.counts ? probes::to_string(cell.finding) : "NotAsked"},
                    {"cause", compiler::to_string(cell.cause)},
                    {"probes", cell.probes}};
  for (const Finding finding : kAllFindings)
    if (const std::uint32_t count = cell.by_finding[static_cast<std::size_t>(finding)]; count > 0)
      json["probe_findings"][std::string(probes::to_string(finding))] = count;
  if (!cell.reason.empty())
    json["reason"] = text(cell.reason);
  if (cell.accepted)
    json["accepted"] = true;
  return json;
}

ordered_json verdict_json(const Report& report, const probes::Verdict& verdict) {
  auto json = ordered_json::parse(probes::to_json_line(verdict), nullptr, false);
  json["made"] = to_string(report.made);
  return json;
}

}  // namespace

std::string to_json(const Report& report, const View&) {
  ordered_json counts{{"total", report.total},
                      {"probed", report.total - report.count(Finding::NotCovered)},
                      {"decided", report.decided()}};
  for (const Finding finding : kAllFindings)
    counts[std::string(probes::to_string(finding))] = report.count(finding);
  counts["SilentAccepted"] = report.accepted;

  ordered_json json{{"schema", "bulkhead.report/1"},
                    {"made", to_string(report.made)},
                    {"site", text(report.site)},
                    {"as_of", report.as_of},
                    {"run", text(report.run)},
                    {"seed", report.seed},
                    {"asked",
                     {{"whole", report.asked.is_whole()},
                      {"include", report.asked.include},
                      {"exclude", report.asked.exclude},
                      {"plan", text(report.asked.plan)}}},
                    {"timed_out", report.timed_out},
                    {"version", report.version},
                    {"worst", probes::to_string(report.worst)},
                    {"exit", report.exit_code},
                    {"conclusion", text(report.conclusion)},
                    {"cells", std::move(counts)},
                    {"coverage_percent", std::round(report.coverage_percent * 10) / 10},
                    {"probes", report.probes},
                    {"tries", report.tries},
                    {"retries", report.retries},
                    {"rounds", report.rounds},
                    {"void_rounds", report.void_rounds},
                    {"elapsed_ms",
                     {{"lab_up", report.lab_up.count()},
                      {"probing", report.probing.count()},
                      {"lab_down", report.lab_down.count()}}}};
  json["proofs"] = ordered_json::array();
  for (const scenarios::MemberProof& proven : report.proofs) {
    ordered_json differences = ordered_json::array();
    for (const std::string& difference : proven.differences)
      differences.push_back(text(difference));
    json["proofs"].push_back({{"enforcer", text(proven.enforcer)},
                              {"member", text(proven.member)},
                              {"state", compiler::proof::to_string(proven.state)},
                              {"reason", text(proven.reason)},
                              {"differences", std::move(differences)}});
  }
  json["notes"] = ordered_json::array();
  for (const std::string& note : report.notes)
    json["notes"].push_back(text(note));
  json["beside"] = ordered_json::array();
  for (const probes::SiteFinding& other : report.beside)
    json["beside"].push_back({{"finding", probes::to_string(other.finding)},
                              {"subject", text(other.subject)},
                              {"reason", text(other.reason)}});
  json["matrix"] = ordered_json::array();
  for (const CellReport& cell : report.cells)
    json["matrix"].push_back(cell_json(report, cell));
  json["verdicts"] = ordered_json::array();
  for (const probes::Verdict& verdict : report.verdicts)
    json["verdicts"].push_back(verdict_json(report, verdict));
  return json.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace bulkhead::cli
