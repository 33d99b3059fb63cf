#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands/verbs.h"
#include "cli/support/answer.h"
#include "cli/support/exit_code.h"
#include "cli/support/site_argument.h"
#include "scenarios/faults.h"

namespace bulkhead::cli {
namespace {

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return "error";
    case Severity::Warning:
      return "warning";
    case Severity::Note:
      return "note";
  }
  return "error";
}

nlohmann::ordered_json place_json(const compiler::Site& site, SourcePos at) {
  nlohmann::ordered_json json;
  if (at.line > 0)
    json = {{"file", site.sources.file(at.file).name}, {"line", at.line}, {"column", at.column}};
  return json;
}

std::string check_json(const compiler::Site& site) {
  nlohmann::ordered_json json{{"schema", "bulkhead.check/1"},
                              {"site", site.policy.name},
                              {"errors", site.diagnostics.error_count()}};
  json["diagnostics"] = nlohmann::ordered_json::array();
  for (const Diagnostic& diagnostic : site.diagnostics.all()) {
    nlohmann::ordered_json item{{"severity", to_string(diagnostic.severity)},
                                {"code", diagnostic.code},
                                {"at", place_json(site, diagnostic.at)},
                                {"message", diagnostic.message}};
    if (!diagnostic.hint.empty())
      item["hint"] = diagnostic.hint;
    for (const Diagnostic::Related& related : diagnostic.related)
      item["related"].push_back(
          {{"at", place_json(site, related.at)}, {"message", related.message}});
    json["diagnostics"].push_back(std::move(item));
  }
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string plural(std::size_t count, std::string_view word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

std::string check_text(const compiler::Site& site, bool notes_are_shown) {
  std::size_t warnings = 0, notes = 0;
  for (const Diagnostic& diagnostic : site.diagnostics.all()) {
    warnings += diagnostic.severity == Severity::Warning ? 1 : 0;
    notes += diagnostic.severity == Severity::Note ? 1 : 0;
  }
  const std::string_view where = notes == 0 || notes_are_shown ? "" : " (-v shows them)";
  const std::size_t classes = site.matrix.universe.classes.size();
  return fmt::format("{}: {} {}, {}, {}: no errors, {}, {}{}\n", printable(site.policy.name),
                     classes, classes == 1 ? "class" : "classes",
                     plural(site.policy.flows.size(), "flow"),
                     plural(site.inventory.enforcers.size(), "enforcer"),
                     plural(warnings, "warning"), plural(notes, "note"), where);
}

Result<int> run(const Settings& settings) {
  compiler::Site site = load_site(settings);
  std::error_code unknown;
  if (std::filesystem::exists(site.folder / "faults.toml", unknown))
    (void)scenarios::load_faults(site);  // only what is wrong with it
  const bool json = settings.format == "json";
  if (!json)
    std::fputs(diagnostics_text(site, settings).c_str(), stderr);
  if (json || site.ok()) {
    Status written = answer(settings, json ? check_json(site) : check_text(site, settings.verbose));
    if (!written)
      return fail(written.error());
  }
  if (!site.ok())
    return fail(ErrorKind::Usage,
                fmt::format("{}: {}", settings.arguments.front(), errors_in_words(site)));
  return kExitOk;
}

}  // namespace

Verb check_verb() {
  return {
      .name = "check",
      .arguments = "SITE",
      .summary = "Find every mistake of a site's policy and inventory",
      .details =
          "Reads policy.toml with its includes, inventory.toml and, where there is one,\n"
          "faults.toml, and shows every mistake with its place and a hint; -v adds notes. Writes\n"
          "nothing. Exit 2 where there is an error.",
      .example = "  bulkhead check scenarios/two-tenants\n",
      .options = {"as-of", "format", "output", "quiet", "verbose", "color"},
      .formats = {"text", "json"},
      .run = run,
  };
}

}  // namespace bulkhead::cli
