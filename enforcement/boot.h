// Rules before the network is up: those of the last confirmed generation, else a table that lets
// nothing through.
#pragma once

#include <filesystem>
#include <string>

#include "enforcement/backend.h"
#include "enforcement/journal.h"

namespace bulkhead::enforcement {

struct Booted {
  enum class What { NothingApplied, Generation, FailClosed } what = What::NothingApplied;
  std::string says;  // in words
};

// Never leaves what it could not load open: an error means that not even the closed table could be
// loaded.
[[nodiscard]] Result<Booted> boot(Backend& backend, const std::filesystem::path& state);

// Nothing is forwarded; the machine itself may speak, and hear answers.
[[nodiscard]] std::string fail_closed_table();

}  // namespace bulkhead::enforcement
