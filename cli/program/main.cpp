#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "cli/support/command_line.h"
#include "cli/support/exit_code.h"
#include "cli/support/interrupt.h"

namespace {

using namespace bulkhead;

int report(const Error& error) {
  fmt::print(stderr, "bulkhead: {}\n", error.message);
  return cli::exit_code(error);
}

int run(std::vector<std::string> words) {
  const auto line = cli::parse_command_line(std::move(words));
  if (!line)
    return report(line.error());
  if (line->help) {
    fmt::print("{}", line->verb ? cli::help_page(*line->verb) : cli::help_page());
    return cli::kExitOk;
  }
  cli::catch_interrupts();
  const Result<int> done = line->verb->run(line->settings);
  return done ? *done : report(done.error());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& failure) {
    return report({ErrorKind::Environment, failure.what()});
  }
}
