// SIGINT and SIGTERM as a flag, so that labs and agents are taken down in order and the exit code
// tells which signal it was. A second signal ends the process at once (the lab's guardian then
// cleans up).
#pragma once

#include <atomic>

namespace bulkhead::cli {

void catch_interrupts();  // once, by main; SIGPIPE is ignored from then on
[[nodiscard]] const std::atomic<bool>& interrupted();
[[nodiscard]] int interrupting_signal();  // 0: none came

}  // namespace bulkhead::cli
