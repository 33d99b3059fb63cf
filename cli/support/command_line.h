// argv -> a verb with its settings, or a help page, or what is wrong with a hint.
#pragma once

#include <string>
#include <vector>

#include "cli/support/verb.h"

namespace bulkhead::cli {

struct CommandLine {
  const Verb* verb = nullptr;  // none: help for the program, or for the family
  bool help = false;
  std::string family;  // of verbs with two words, when only the first was asked about: "lab"
  Settings settings;
};

// `words` without the program's name. Errors are of kind Usage.
[[nodiscard]] Result<CommandLine> parse_command_line(std::vector<std::string> words);

// What `line.help` asks for: the program with all its verbs, a family of verbs, or one verb.
[[nodiscard]] std::string help_page(const CommandLine& line);

}  // namespace bulkhead::cli
