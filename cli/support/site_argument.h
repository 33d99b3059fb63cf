// SITE on the command line -> a site that may be used, its diagnostics told on the way.
#pragma once

#include "cli/support/settings.h"
#include "compiler/site.h"
#include "policy/support/result.h"

namespace bulkhead::cli {

// Prints diagnostics to stderr: errors, without -q warnings, with -v notes. A site with errors is an Error of kind Usage:
// a verb that gets a Site may compile it. `--as-of` decides the day; without it, today in UTC.
[[nodiscard]] Result<compiler::Site> open_site(const Settings& settings);

// The first half alone, for `check`, which answers with the diagnostics themselves.
[[nodiscard]] compiler::Site load_site(const Settings& settings);
[[nodiscard]] std::string diagnostics_text(const compiler::Site& site, const Settings& settings);
[[nodiscard]] std::string errors_in_words(const compiler::Site& site);  // "3 errors", "1 error"

}  // namespace bulkhead::cli
