// What `audit` and `probe` share: run, follow on the terminal, report, exit code.
#pragma once

#include <string_view>
#include <vector>

#include "cli/support/settings.h"
#include "policy/support/result.h"

namespace bulkhead::cli {

enum class Scope {
  WholeLine,  // compile, build the lab, load, probe
  AsItStands  // probe what is there: nothing is built, loaded or taken down
};

[[nodiscard]] std::vector<std::string_view> audit_options();  // names of rows in options.cpp
[[nodiscard]] Result<int> run_audit(const Settings& settings, Scope scope);

[[nodiscard]] std::string made_up_run();  // four characters of a-z0-9

}  // namespace bulkhead::cli
