#include "cli/report/square.h"

#include <fmt/format.h>

#include <algorithm>

namespace bulkhead::cli {
namespace {

constexpr std::size_t kLongestName = 30;
constexpr std::size_t kFewestColumns = 10;  // worth a square, however narrow the terminal

// Trailing blanks are noise in files and goldens.
std::string line(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

std::string repeat(std::string_view glyph, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i)
    text += glyph;
  return text;
}

std::string pad(std::string text, std::size_t width) {
  const std::size_t taken = columns(text);
  return taken < width ? text + std::string(width - taken, ' ') : text;
}

// The digit of column `number` in the row of digits with this weight; blank where it has none.
char stacked_digit(std::size_t number, std::size_t weight) {
  return number < weight ? ' ' : static_cast<char>('0' + number / weight % 10);
}

}  // namespace

std::string draw_square(const std::vector<std::string>& names,
                        const std::function<Sign(std::size_t, std::size_t)>& sign, bool color,
                        int width) {
  const std::size_t n = names.size();
  if (n == 0)
    return {};
  std::size_t name_width = columns("from ↓  to →");
  for (const std::string& name : names)
    name_width = std::max(name_width, std::min(columns(name), kLongestName));
  const std::size_t number_width = std::to_string(n).size();
  // " 12  name │" comes before the signs, each sign with a blank before it.
  const std::size_t before = 1 + number_width + 2 + name_width + 2;
  const std::size_t room = static_cast<std::size_t>(std::max(width, 0));
  const std::size_t per_square =
      std::max(kFewestColumns, room > before ? (room - before) / 2 : std::size_t{0});

  std::string out;
  for (std::size_t first = 0; first < n; first += per_square) {
    const std::size_t end = std::min(first + per_square, n);
    if (first > 0)
      out += "\n";
    std::size_t weight = 1;
    while (weight * 10 <= n)
      weight *= 10;
    for (; weight > 0; weight /= 10) {
      std::string text(1 + number_width + 2, ' ');
      text += pad(weight == 1 ? "from ↓  to →" : "", name_width);
      text = paint(text, Style::Dim, color) + paint(" │", Style::Dim, color);
      std::string digits;
      for (std::size_t column = first; column < end; ++column)
        digits += fmt::format(" {}", stacked_digit(column + 1, weight));
      digits.erase(digits.find_last_not_of(' ') + 1);
      out += line(text + digits);
    }
    out += paint(" " + repeat("─", before - 2) + "┼" + repeat("─", 2 * (end - first)), Style::Dim,
                 color) +
           "\n";
    for (std::size_t row = 0; row < n; ++row) {
      std::string text = fmt::format(" {:>{}}  {}", row + 1, number_width,
                                     pad(shorten(names[row], kLongestName), name_width));
      text += paint(" │", Style::Dim, color);
      for (std::size_t column = first; column < end; ++column) {
        const Sign s = sign(row, column);
        text += " " + paint(s.glyph, s.style, color);
      }
      out += line(text);
    }
  }
  return out;
}

}  // namespace bulkhead::cli
