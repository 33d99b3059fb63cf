#include "cli/support/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace bulkhead::cli {
namespace {

constexpr int kDefaultWidth = 100;

std::string_view escape(Style style) {
  switch (style) {
    case Style::Plain:
      return "";
    case Style::Bold:
      return "\033[1m";
    case Style::Dim:
      return "\033[2m";
    case Style::Good:
      return "\033[32m";
    case Style::Open:
      return "\033[36m";
    case Style::Bad:
      return "\033[1;97;41m";
    case Style::Warning:
      return "\033[1;33m";
    case Style::Note:
      return "\033[35m";
  }
  return "";
}

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

// Length of the well-formed UTF-8 sequence at the start of `text`; 0 where there is none.
std::size_t sequence_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead < 0x80    ? 1
                             : lead < 0xc2  ? 0
                             : lead < 0xe0  ? 2
                             : lead < 0xf0  ? 3
                             : lead <= 0xf4 ? 4
                                            : 0;
  if (length == 0 || text.size() < length)
    return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[i]))
      return 0;
  }
  return length;
}

}  // namespace

bool is_terminal(int fd) {
  return isatty(fd) == 1;
}

bool use_color(ColorChoice choice, int fd) {
  if (choice != ColorChoice::Auto)
    return choice == ColorChoice::Always;
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return is_terminal(fd) && !(no_color && *no_color) && !(term && std::string_view(term) == "dumb");
}

int terminal_width(int fd) {
  winsize size{};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kDefaultWidth;
}

std::string paint(std::string_view text, Style style, bool color) {
  if (!color || style == Style::Plain)
    return std::string(text);
  return std::string(escape(style)).append(text).append("\033[0m");
}

std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  for (char c : text)
    count += is_continuation(c) ? 0 : 1;
  return count;
}

std::string shorten(std::string_view text, std::size_t limit) {
  if (columns(text) <= limit)
    return std::string(text);
  const std::size_t head = (limit - 1) / 2;
  const std::size_t tail = limit - 1 - head;
  const std::size_t skipped = columns(text) - tail;
  std::string out;
  std::size_t column = 0;
  bool cut = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    column += is_continuation(text[i]) ? 0 : 1;
    if (column <= head || column > skipped) {
      out += text[i];
    } else if (!cut) {
      out += "…";
      cut = true;
    }
  }
  return out;
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const auto first = static_cast<unsigned char>(text[0]);
    if (length == 0 || first < 0x20 || first == 0x7f) {
      out += '?';
      text.remove_prefix(1);
    } else {
      out += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return out;
}

}  // namespace bulkhead::cli
