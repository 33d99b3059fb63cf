// A site, read and checked: the front half of every verb.
#pragma once

#include <filesystem>
#include <optional>

#include "compiler/coverage.h"
#include "compiler/inventory.h"
#include "policy/matrix.h"

namespace bulkhead::compiler {

// Cells are pairs of classes, so their number bounds time and memory of every later stage.
inline constexpr std::size_t kMostClasses = 2048;

struct Site {
  std::filesystem::path folder;
  SourceMap sources;
  Diagnostics diagnostics;  // complete: all semantic errors of policy, inventory and coverage
  policy::Policy policy;
  Inventory inventory;
  policy::Matrix matrix;
  Coverage coverage;
  std::string policy_digest;  // "sha256:..." over all files read and as_of
  [[nodiscard]] bool ok() const { return !diagnostics.has_errors(); }
};

// Never fails as a whole: what is wrong is in `diagnostics`; later fields are empty where earlier
// stages failed. A folder that cannot be read is a diagnostic too.
[[nodiscard]] Site load_site(const std::filesystem::path& folder, policy::Date as_of);
// For tests and the fuzzer: same, with files from memory.
[[nodiscard]] Site load_site(const policy::FileReader& read, policy::Date as_of);

}  // namespace bulkhead::compiler
