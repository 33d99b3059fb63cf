#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "cli/support/answer.h"
#include "cli/support/command_line.h"
#include "cli/support/exit_code.h"
#include "cli/support/interrupt.h"

namespace {

using namespace bulkhead;

// Nothing can be said where stderr cannot be written, but the exit code still can.
int report(const Error& error) {
  std::fputs(("bulkhead: " + error.message + "\n").c_str(), stderr);
  return cli::exit_code(error);
}

// A program started with a standard stream closed would give its number to the first file that it
// opens, and then write messages into that. Opened the wrong way round, so that reading or writing
// it still fails.
void hold_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF)
      (void)::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int run(std::vector<std::string> words) {
  const auto line = cli::parse_command_line(std::move(words));
  if (!line)
    return report(line.error());
  if (line->help) {
    const Status written = cli::answer({}, cli::help_page(*line));
    return written ? cli::kExitOk : report(written.error());
  }
  cli::catch_interrupts();
  const Result<int> done = line->verb->run(line->settings);
  return done ? *done : report(done.error());
}

}  // namespace

int main(int argc, char** argv) {
  hold_standard_streams();
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& failure) {
    return report({ErrorKind::Environment, failure.what()});
  }
}
