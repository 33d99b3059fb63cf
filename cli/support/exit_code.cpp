#include "cli/support/exit_code.h"

#include <csignal>

#include "cli/support/interrupt.h"

namespace bulkhead::cli {

int exit_code(const Error& error) {
  switch (error.kind) {
    case ErrorKind::Usage:
      return kExitUsage;
    case ErrorKind::Environment:
      return kExitEnvironment;
    case ErrorKind::Timeout:
      return kExitInconclusive;
    case ErrorKind::Interrupted:
      return kExitSignalBase + (interrupting_signal() ? interrupting_signal() : SIGINT);
  }
  return kExitEnvironment;
}

}  // namespace bulkhead::cli
