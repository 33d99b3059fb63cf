#include <fmt/format.h>

#include "cli/report/report.h"
#include "cli/support/terminal.h"

namespace bulkhead::cli {

std::string_view to_string(scenarios::Where where) {
  return where == scenarios::Where::Lab ? "lab" : "live";
}

std::string Asked::words() const {
  if (!plan.empty())
    return fmt::format("only the probes of {}", printable(plan));
  std::string text;
  if (!include.empty())
    text = printable(fmt::format("only {}", fmt::join(include, ", ")));
  if (!exclude.empty())
    text += printable(
        fmt::format("{}without {}", text.empty() ? "all " : ", ", fmt::join(exclude, ", ")));
  return text;
}

std::string counted(probes::Finding finding, std::uint32_t count) {
  const std::string_view plural = count == 1 ? "" : "s";
  switch (finding) {
    case probes::Finding::Conforms:
      return fmt::format("{} conform{}", count, count == 1 ? "s" : "");
    case probes::Finding::Leak:
      return fmt::format("{} leak{}", count, plural);
    case probes::Finding::Outage:
      return fmt::format("{} outage{}", count, plural);
    case probes::Finding::Inconclusive:
      return fmt::format("{} inconclusive", count);
    case probes::Finding::Silent:
      return fmt::format("{} silent", count);
    case probes::Finding::NotCovered:
      return fmt::format("{} not covered", count);
  }
  return {};
}

}  // namespace bulkhead::cli
