// What an earlier process left unfinished is brought to an end before anything new begins.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "enforcement/backend.h"
#include "enforcement/journal.h"
#include "policy/support/result.h"

namespace bulkhead::enforcement {

// Why a generation cannot go on by itself: nobody waits for its confirmation any more, or its time
// is over. Nothing: it may still be confirmed.
[[nodiscard]] std::optional<std::string> why_it_must_end(const Generation& generation);

// The caller holds the lock. What was done, in words, for people. Environment errors: a generation
// still waits for its confirmation; the folder is of another network namespace of this boot; the
// state does not come back.
[[nodiscard]] Result<std::vector<std::string>> recover(Backend& backend, Journal& journal);

}  // namespace bulkhead::enforcement
