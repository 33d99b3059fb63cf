#include "cli/support/site_argument.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace bulkhead::cli {
namespace {

policy::Date today() {
  return policy::Date(std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()));
}

// Notes are for `check`, and for who asks for everything.
bool shows(const Settings& settings, Severity severity) {
  switch (severity) {
    case Severity::Error:
      return true;
    case Severity::Warning:
      return !settings.quiet;
    case Severity::Note:
      return settings.verbose;
  }
  return true;
}

}  // namespace

compiler::Site load_site(const Settings& settings) {
  compiler::Site site =
      compiler::load_site(settings.arguments.front(), settings.as_of.value_or(today()));
  site.diagnostics.sort();
  return site;
}

// A file that is wrong from top to bottom has a mistake a line, and nobody reads on. Errors go
// first into what is shown, so that warnings before them never hide them.
std::string diagnostics_text(const compiler::Site& site, const Settings& settings) {
  constexpr std::size_t kMostShown = 200;
  const bool color = use_color(settings.color, STDERR_FILENO);
  std::size_t errors_left = std::min(kMostShown, site.diagnostics.error_count());
  std::size_t others_left = kMostShown - errors_left;
  std::size_t hidden = 0;
  std::string text;
  for (const Diagnostic& diagnostic : site.diagnostics.all()) {
    if (!shows(settings, diagnostic.severity))
      continue;
    std::size_t& left = diagnostic.severity == Severity::Error ? errors_left : others_left;
    if (left == 0) {
      ++hidden;
      continue;
    }
    --left;
    text += render(diagnostic, site.sources, color);
  }
  if (hidden > 0)
    text += fmt::format("{} more: `bulkhead check {} --format json` lists all\n", hidden,
                        printable(settings.arguments.front()));
  return text;
}

std::string errors_in_words(const compiler::Site& site) {
  const std::size_t count = site.diagnostics.error_count();
  return fmt::format("{} {}", count, count == 1 ? "error" : "errors");
}

Result<compiler::Site> open_site(const Settings& settings) {
  compiler::Site site = load_site(settings);
  std::fputs(diagnostics_text(site, settings).c_str(), stderr);
  if (!site.ok())
    return fail(ErrorKind::Usage, fmt::format("{}: {}, nothing was done",
                                              settings.arguments.front(), errors_in_words(site)));
  return site;
}

}  // namespace bulkhead::cli
