#include "cli/support/answer.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "cli/support/files.h"

namespace bulkhead::cli {

Status answer(const Settings& settings, const std::string& text) {
  if (!settings.output.empty())
    return write_file(settings.output, text);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    return fail_errno("write to stdout", errno);
  return {};
}

View view_of(const Settings& settings) {
  const bool to_stdout = settings.output.empty();
  View view;
  view.color =
      to_stdout ? use_color(settings.color, STDOUT_FILENO) : settings.color == ColorChoice::Always;
  view.width = to_stdout ? terminal_width(STDOUT_FILENO) : terminal_width(-1);
  view.all = settings.verbose;
  return view;
}

}  // namespace bulkhead::cli
