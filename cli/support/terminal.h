// What we may print: colours and widths, and whether anybody is looking.
#pragma once

#include <string>
#include <string_view>

namespace bulkhead::cli {

enum class ColorChoice { Auto, Always, Never };

// Auto: the stream is a terminal, NO_COLOR is unset or empty (no-color.org) and TERM is not "dumb".
[[nodiscard]] bool use_color(ColorChoice choice, int fd);
[[nodiscard]] bool is_terminal(int fd);
// Columns of the terminal behind `fd`; 100 where it is none.
[[nodiscard]] int terminal_width(int fd);

// Foreground styles by meaning; `paint` leaves the text alone where color is off.
enum class Style { Plain, Bold, Dim, Good, Open, Bad, Warning, Note };
[[nodiscard]] std::string paint(std::string_view text, Style style, bool color);

// Columns that UTF-8 text takes; every character we print is one column wide.
[[nodiscard]] std::size_t columns(std::string_view text);
// Cut in the middle ("acme-fe…compute") to at most `limit` columns.
[[nodiscard]] std::string shorten(std::string_view text, std::size_t limit);
// Control characters and invalid UTF-8 as '?': names and messages come from other people's files
// and hosts.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace bulkhead::cli
