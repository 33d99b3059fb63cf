// The exit codes of both verbs and scripts, and which failure means which. Scripts rely on them:
// 0 is only ever "looked at, and as intended".
#pragma once

#include "policy/support/result.h"

namespace bulkhead::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFindings = 1;      // leak, outage, ...: --fail-on chooses
inline constexpr int kExitUsage = 2;         // bad usage or policy: nothing was done
inline constexpr int kExitEnvironment = 3;   // this machine, or a host, lacks something
inline constexpr int kExitInconclusive = 4;  // not decided: silent, timed out, too little covered
inline constexpr int kExitSignalBase = 128;  // + signal number: 130 SIGINT, 143 SIGTERM

[[nodiscard]] int exit_code(const Error& error);

}  // namespace bulkhead::cli
