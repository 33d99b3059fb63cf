#include "policy/explain.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands/verbs.h"
#include "cli/support/answer.h"
#include "cli/support/exit_code.h"
#include "cli/support/find_class.h"
#include "cli/support/site_argument.h"

namespace bulkhead::cli {
namespace {

using nlohmann::ordered_json;
using policy::Action;

// Whose work the answer is: who lets it pass, or who stops it.
std::string enforced_by(const compiler::CellCoverage& coverage, Action action) {
  if (action == Action::Allow)
    return coverage.path.empty() ? "nobody: no enforcer of ours is on its path"
                                 : fmt::format("{} lets it pass", fmt::join(coverage.path, ", "));
  switch (coverage.cause) {
    case compiler::Cause::None:
      return "nobody: " + (coverage.reason.empty() ? "nothing is on its path" : coverage.reason);
    case compiler::Cause::Rule:
      return coverage.control + " drops it";
    case compiler::Cause::Route:
      return coverage.control.empty() ? "no route leads there"
                                      : coverage.control + " has no route there";
    case compiler::Cause::Partition:
      return "InfiniBand keys of " + coverage.control;
    case compiler::Cause::External:
      return coverage.control + ", which bulkhead cannot read";
  }
  return {};
}

// The lines of the block that begins at `at`: up to a blank line or the next table.
std::vector<std::string_view> block_at(const SourceMap& sources, SourcePos at) {
  constexpr std::uint32_t kMostLines = 12;
  std::vector<std::string_view> lines;
  for (SourcePos here = at; here.line < at.line + kMostLines; ++here.line) {
    const std::string_view line = sources.line(here);
    if (line.empty() || (here.line > at.line && line.starts_with('[')))
      break;
    lines.push_back(line);
  }
  return lines;
}

std::string explain_text(const compiler::Site& site, const policy::Question& question,
                         const policy::Explanation& told, bool color) {
  const bool allowed = told.action == Action::Allow;
  std::string text = fmt::format(
      "{}  {}\n", paint(allowed ? "ALLOWED" : "DENIED", allowed ? Style::Good : Style::Bold, color),
      printable(told.reason));
  text += fmt::format("  decided by   {}\n", fmt::join(told.rules, ", "));
  text += fmt::format(
      "  enforced by  {}\n",
      printable(enforced_by(site.coverage.at(question.from, question.to), told.action)));
  for (const policy::Explanation::Line& line : told.lines) {
    text += fmt::format("\n  {} {}, {}\n", paint(line.id, Style::Bold, color), printable(line.text),
                        site.sources.place(line.at));
    for (const std::string_view source : block_at(site.sources, line.at))
      text += fmt::format("    {}\n", paint(printable(source), Style::Dim, color));
  }
  return text;
}

ordered_json explain_json(const compiler::Site& site, const policy::Question& question,
                          const policy::Explanation& told) {
  const auto& classes = site.matrix.universe.classes;
  const compiler::CellCoverage& coverage = site.coverage.at(question.from, question.to);
  ordered_json json{{"schema", "bulkhead.explain/1"},
                    {"from", classes[question.from].name},
                    {"to", classes[question.to].name},
                    {"action", told.action == Action::Allow ? "allow" : "deny"},
                    {"rules", told.rules},
                    {"reason", told.reason},
                    {"cause", compiler::to_string(coverage.cause)},
                    {"path", coverage.path}};
  json["lines"] = ordered_json::array();
  for (const policy::Explanation::Line& line : told.lines)
    json["lines"].push_back(
        {{"id", line.id}, {"at", site.sources.place(line.at)}, {"text", line.text}});
  return json;
}

Result<int> run(const Settings& settings) {
  if (settings.from.empty() || settings.to.empty())
    return fail(ErrorKind::Usage, "`explain` wants --from and --to: classes, hosts or addresses");
  if (!settings.traffic)
    return fail(ErrorKind::Usage,
                "`explain` wants to know which traffic: --tcp PORT, --udp PORT, --icmp echo, ...");
  if (settings.last_port != settings.port)
    return fail(ErrorKind::Usage, "`explain` wants one port: a range may have several answers");
  auto site = open_site(settings);
  if (!site)
    return fail(site.error());
  const auto from = find_classes(*site, settings.from);
  if (!from)
    return fail(from.error());
  const auto to = find_classes(*site, settings.to);
  if (!to)
    return fail(to.error());

  const bool json = settings.format == "json";
  const bool is_one = from->size() * to->size() == 1;
  ordered_json pairs = ordered_json::array();
  std::string text;
  for (const Found& source : *from)
    for (const Found& destination : *to) {
      const auto over = static_cast<policy::Carriers>(source.over & destination.over);
      const policy::Question question{source.cls, destination.cls, *settings.traffic, settings.port,
                                      over};
      const policy::Explanation told = policy::explain(site->policy, site->matrix, question);
      if (json)
        pairs.push_back(explain_json(*site, question, told));
      else
        text += (text.empty() ? "" : "\n") +
                explain_text(*site, question, told, view_of(settings).color);
    }
  if (json)
    text =
        (is_one ? pairs.front() : ordered_json{{"schema", "bulkhead.explain/1"}, {"pairs", pairs}})
            .dump(1, ' ', false, ordered_json::error_handler_t::replace) +
        "\n";
  if (Status written = answer(settings, text); !written)
    return fail(written.error());
  return kExitOk;
}

}  // namespace

Verb explain_verb() {
  return {
      .name = "explain",
      .arguments = "SITE --from CLASS --to CLASS --tcp PORT",
      .summary = "Say which line of the policy decides a flow",
      .details =
          "Names the flow that allows or denies, or that none does (default deny), every\n"
          "line that speaks of it without deciding, and who enforces it. CLASS may be a\n"
          "class, a host, an address, or a segment, SEGMENT.LABEL or tenant:NAME: then each of\n"
          "its classes is explained.",
      .example = "  bulkhead explain scenarios/two-tenants --from red1 --to blue1 --tcp 22\n",
      .options = {"from", "to", "tcp", "udp", "sctp", "icmp", "ip", "dhcp", "roce", "ib", "as-of",
                  "format", "output", "quiet", "color"},
      .formats = {"text", "json"},
      .run = run,
  };
}

}  // namespace bulkhead::cli
