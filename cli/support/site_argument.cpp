#include "cli/support/site_argument.h"

#include <fmt/format.h>
#include <unistd.h>

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

std::string diagnostics_text(const compiler::Site& site, const Settings& settings) {
  const bool color = use_color(settings.color, STDERR_FILENO);
  std::string text;
  for (const Diagnostic& diagnostic : site.diagnostics.all()) {
    if (shows(settings, diagnostic.severity))
      text += render(diagnostic, site.sources, color);
  }
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
