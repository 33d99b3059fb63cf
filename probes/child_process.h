// A child whose stdin and stdout are one socket to us and whose stderr is kept for error messages.
// What both launchers share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "probes/launcher.h"

namespace bulkhead::probes {

struct ChildSpec {
  std::vector<std::string> command;  // program found by PATH
  // Path of a network namespace to enter first, with a /sys of its own; empty: ours.
  std::string netns_path;
};

// Returns once the program runs (exec succeeded) or with the reason why it does not. The child
// leads a session of its own, so that a Ctrl-C at the terminal reaches the operator alone, and dies
// when the thread that called this ends.
[[nodiscard]] Result<std::unique_ptr<AgentProcess>> start_child(const ChildSpec& spec);

}  // namespace bulkhead::probes
