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

using policy::Action;

std::string enforced_by(const compiler::CellCoverage& coverage) {
  if (coverage.cause == compiler::Cause::None)
    return coverage.reason.empty() ? "nothing on its path" : coverage.reason;
  std::string text(compiler::to_string(coverage.cause));
  if (!coverage.control.empty())
    text += " of " + coverage.control;
  if (!coverage.path.empty())
    text += fmt::format(", path {}", fmt::join(coverage.path, " → "));
  return text;
}

std::string explain_text(const compiler::Site& site, const policy::Question& question,
                         const policy::Explanation& told, bool color) {
  const bool allowed = told.action == Action::Allow;
  std::string text = fmt::format(
      "{}  {}\n", paint(allowed ? "ALLOWED" : "DENIED", allowed ? Style::Good : Style::Bold, color),
      printable(told.reason));
  text += fmt::format("  decided by   {}\n", fmt::join(told.rules, ", "));
  text += fmt::format("  enforced by  {}\n",
                      printable(enforced_by(site.coverage.at(question.from, question.to))));
  for (const policy::Explanation::Line& line : told.lines) {
    text += fmt::format("\n  {} {}\n", paint(line.id, Style::Bold, color), printable(line.text));
    text += fmt::format("    {}: {}\n", site.sources.place(line.at),
                        paint(printable(site.sources.line(line.at)), Style::Dim, color));
  }
  return text;
}

std::string explain_json(const compiler::Site& site, const policy::Question& question,
                         const policy::Explanation& told) {
  const auto& classes = site.matrix.universe.classes;
  const compiler::CellCoverage& coverage = site.coverage.at(question.from, question.to);
  nlohmann::ordered_json json{{"schema", "bulkhead.explain/1"},
                              {"from", classes[question.from].name},
                              {"to", classes[question.to].name},
                              {"action", told.action == Action::Allow ? "allow" : "deny"},
                              {"rules", told.rules},
                              {"reason", told.reason},
                              {"cause", compiler::to_string(coverage.cause)},
                              {"path", coverage.path}};
  json["lines"] = nlohmann::ordered_json::array();
  for (const policy::Explanation::Line& line : told.lines)
    json["lines"].push_back(
        {{"id", line.id}, {"at", site.sources.place(line.at)}, {"text", line.text}});
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Result<int> run(const Settings& settings) {
  if (settings.from.empty() || settings.to.empty())
    return fail(ErrorKind::Usage, "`explain` wants --from and --to: classes, hosts or addresses");
  if (!settings.traffic)
    return fail(ErrorKind::Usage,
                "`explain` wants to know which traffic: --tcp PORT, --udp PORT, --icmp echo, ...");
  auto site = open_site(settings);
  if (!site)
    return fail(site.error());
  const auto from = find_class(*site, settings.from);
  if (!from)
    return fail(from.error());
  const auto to = find_class(*site, settings.to);
  if (!to)
    return fail(to.error());

  const policy::Question question{*from, *to, *settings.traffic, settings.port};
  const policy::Explanation told = policy::explain(site->policy, site->matrix, question);
  const std::string text = settings.format == "json"
                               ? explain_json(*site, question, told)
                               : explain_text(*site, question, told, view_of(settings).color);
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
          "class, a host or an address.",
      .example = "  bulkhead explain scenarios/two-tenants --from red1 --to blue1 --tcp 22\n",
      .options = {"from", "to", "tcp", "udp", "sctp", "icmp", "ip", "dhcp", "roce", "ib", "as-of",
                  "format", "output", "quiet", "color"},
      .formats = {"text", "json"},
      .run = run,
  };
}

}  // namespace bulkhead::cli
