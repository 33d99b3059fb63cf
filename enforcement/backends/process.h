// Runs a program to its end with text on its standard input, and gives back what it printed.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "policy/support/result.h"

namespace bulkhead::enforcement {

struct Finished {
  int status = 0;  // exit status; 128 + signal number where a signal ended it
  std::string out;
  std::string err;
};

// The program is looked up in PATH; it inherits the calling thread's network namespace. Environment
// error where it cannot be started; Timeout error, the program killed, when it takes longer.
[[nodiscard]] Result<Finished> run_process(const std::vector<std::string>& command,
                                           std::string_view input,
                                           std::chrono::seconds timeout = std::chrono::minutes(2));

}  // namespace bulkhead::enforcement
