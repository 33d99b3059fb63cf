// Where answers go: stdout, or the file that --output names.
#pragma once

#include <string>

#include "cli/report/formats.h"
#include "cli/support/settings.h"
#include "policy/support/result.h"

namespace bulkhead::cli {

// An answer that cannot be written is an error: a full disk never looks like a clean report.
Status answer(const Settings& settings, const std::string& text);
[[nodiscard]] View view_of(const Settings& settings);

}  // namespace bulkhead::cli
