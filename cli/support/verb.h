// A verb of the command line: one file of commands/, one row in commands/verbs.cpp. The row is all
// that parsing and --help need to know.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "cli/support/settings.h"
#include "policy/support/result.h"

namespace bulkhead::cli {

struct Verb {
  std::string_view name{};       // "check", "lab up"
  std::string_view arguments{};  // "SITE", "SITE HOST -- COMMAND..."
  std::string_view summary{};    // its line in `bulkhead --help`
  std::string_view details{};    // the paragraph of its own --help
  std::string_view example{};    // lines to copy
  std::size_t argument_count = 1;
  std::vector<std::string_view> options{};  // names of rows in options.cpp
  std::vector<std::string_view> formats{};  // of --format, the default first
  // The exit code, or why there is none. Prints the answer to stdout and the story to stderr.
  Result<int> (*run)(const Settings& settings) = nullptr;
};

[[nodiscard]] std::span<const Verb> verbs();

}  // namespace bulkhead::cli
