// argv -> a verb with its settings, or a help page, or what is wrong with a hint.
#pragma once

#include <string>
#include <vector>

#include "cli/support/verb.h"

namespace bulkhead::cli {

struct CommandLine {
  const Verb* verb = nullptr;  // none: help for the program
  bool help = false;
  Settings settings;
};

// `words` without the program's name. Errors are of kind Usage.
[[nodiscard]] Result<CommandLine> parse_command_line(std::vector<std::string> words);

[[nodiscard]] std::string help_page();  // of the program: all verbs
[[nodiscard]] std::string help_page(const Verb& verb);

}  // namespace bulkhead::cli
