// Brings back what was there before a generation. The one way back: of an apply that fails, of the
// watchdog, of recovery and of a rollback of what is not confirmed.
#pragma once

#include <string>

#include "enforcement/backend.h"
#include "enforcement/journal.h"
#include "policy/support/result.h"

namespace bulkhead::enforcement {

// The caller holds the lock. The state first, its record then: a record that cannot be written
// leaves a generation that is not final, which the next verb finds to be undone already. `why` goes
// into the record. Environment error where the state did not come back.
[[nodiscard]] Status restore(Backend& backend, Journal& journal, Generation& generation,
                             const std::string& why);

}  // namespace bulkhead::enforcement
