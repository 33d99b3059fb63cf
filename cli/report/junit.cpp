#include <fmt/format.h>

#include <algorithm>

#include "cli/report/formats.h"
#include "cli/report/xml.h"
#include "cli/support/exit_code.h"

namespace bulkhead::cli {
namespace {

using probes::Finding;

// What a CI page shows red is a failure, what nobody can say is an error, what was not looked at is
// skipped.
std::string outcome(const CellReport& cell) {
  if (!cell.counts)
    return fmt::format("<skipped message=\"{}\"/>", xml_escape(cell.reason));
  const auto element = [&](std::string_view tag) {
    return fmt::format("<{0} type=\"{1}\" message=\"{2}\"/>", tag, probes::to_string(cell.finding),
                       xml_escape(cell.reason));
  };
  switch (cell.finding) {
    case Finding::Conforms:
      return {};
    case Finding::Leak:
    case Finding::Outage:
      return element("failure");
    case Finding::Inconclusive:
      return element("error");
    case Finding::Silent:
      return cell.accepted ? std::string() : element("error");
    case Finding::NotCovered:
      return fmt::format("<skipped message=\"{}\"/>", xml_escape(cell.reason));
  }
  return {};
}

std::size_t count(const Report& report, scenarios::MemberProof::State state) {
  return static_cast<std::size_t>(
      std::count_if(report.proofs.begin(), report.proofs.end(),
                    [&](const scenarios::MemberProof& proven) { return proven.state == state; }));
}

std::string proof_case(const Report& report, const scenarios::MemberProof& proven) {
  std::string xml =
      fmt::format("  <testcase classname=\"{}.{}\" name=\"proof of {}\"", xml_escape(report.site),
                  to_string(report.made), xml_escape(proven.member));
  if (proven.state == scenarios::MemberProof::State::Equal)
    return xml + "/>\n";
  std::string content;
  for (const std::string& difference : proven.differences)
    content += xml_escape(difference) + "\n";
  const bool different = proven.state == scenarios::MemberProof::State::Different;
  return xml + fmt::format("><{0} type=\"{1}\" message=\"{2}\">{3}</{0}></testcase>\n",
                           different ? "failure" : "error",
                           compiler::proof::to_string(proven.state), xml_escape(proven.reason),
                           content);
}

}  // namespace

std::string to_junit(const Report& report, const View&) {
  using State = scenarios::MemberProof::State;
  std::uint32_t skipped = report.count(Finding::NotCovered);
  for (const CellReport& cell : report.cells)
    skipped += cell.counts ? 0 : 1;
  const std::uint32_t errors = report.count(Finding::Inconclusive) + report.count(Finding::Silent) -
                               report.accepted +
                               static_cast<std::uint32_t>(count(report, State::NotDecided));
  // Cells that were not covered are skipped, and too many of them are no success.
  const bool is_too_little = errors == 0 && report.exit_code == kExitInconclusive;
  const auto failed_hosts = static_cast<std::uint32_t>(report.beside.size());
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  xml += fmt::format(
      "<testsuite name=\"bulkhead {} {}{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" "
      "skipped=\"{}\" time=\"{:.3f}\">\n",
      to_string(report.made), xml_escape(report.site),
      report.asked.is_whole() ? "" : xml_escape(" (" + report.asked.words() + ")"),
      report.cells.size() + report.beside.size() + report.proofs.size() + (is_too_little ? 1 : 0),
      report.count(Finding::Leak) + report.count(Finding::Outage) + failed_hosts +
          count(report, State::Different),
      errors + (is_too_little ? 1 : 0), skipped,
      static_cast<double>((report.lab_up + report.probing + report.lab_down).count()) / 1000);
  for (const CellReport& cell : report.cells) {
    const std::string inner = outcome(cell);
    xml +=
        fmt::format("  <testcase classname=\"{}.{}\" name=\"{} → {}: {}\"", xml_escape(report.site),
                    to_string(report.made), xml_escape(report.classes[cell.from]),
                    xml_escape(report.classes[cell.to]), xml_escape(cell.says));
    xml += inner.empty() ? "/>\n" : fmt::format(">{}</testcase>\n", inner);
  }
  for (const probes::SiteFinding& other : report.beside)
    xml += fmt::format(
        "  <testcase classname=\"{}.{}\" name=\"host {}\"><failure type=\"{}\" "
        "message=\"{}\"/></testcase>\n",
        xml_escape(report.site), to_string(report.made), xml_escape(other.subject),
        probes::to_string(other.finding), xml_escape(other.reason));
  for (const scenarios::MemberProof& proven : report.proofs)
    xml += proof_case(report, proven);
  if (is_too_little)
    xml += fmt::format(
        "  <testcase classname=\"{}.{}\" name=\"coverage\"><error type=\"NotCovered\" "
        "message=\"{:.1f} %: {}\"/></testcase>\n",
        xml_escape(report.site), to_string(report.made), report.coverage_percent,
        xml_escape(report.conclusion));
  return xml + "</testsuite>\n";
}

}  // namespace bulkhead::cli
