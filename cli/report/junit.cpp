#include <fmt/format.h>

#include "cli/report/formats.h"
#include "cli/report/xml.h"

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

}  // namespace

std::string to_junit(const Report& report, const View&) {
  std::uint32_t skipped = report.count(Finding::NotCovered);
  for (const CellReport& cell : report.cells)
    skipped += cell.counts ? 0 : 1;
  const auto failed_hosts = static_cast<std::uint32_t>(report.beside.size());
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  xml += fmt::format(
      "<testsuite name=\"bulkhead {} {}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" "
      "skipped=\"{}\" time=\"{:.3f}\">\n",
      to_string(report.made), xml_escape(report.site), report.cells.size() + report.beside.size(),
      report.count(Finding::Leak) + report.count(Finding::Outage) + failed_hosts,
      report.count(Finding::Inconclusive) + report.count(Finding::Silent) - report.accepted,
      skipped,
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
  return xml + "</testsuite>\n";
}

}  // namespace bulkhead::cli
