// The directional matrix as people look at it: a row for each class that sends, a column for each
// that receives, one sign a cell. Columns are numbered like the rows, digits stacked, so that 30
// classes fit beside their names on one screen; more come in several squares side by side.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/support/terminal.h"

namespace bulkhead::cli {

struct Sign {
  std::string_view glyph;  // one column
  Style style = Style::Plain;
};

[[nodiscard]] std::string draw_square(
    const std::vector<std::string>& names,
    const std::function<Sign(std::size_t from, std::size_t to)>& sign, bool color, int width);

}  // namespace bulkhead::cli
