// Matrix and coverage <-> JSON lines, schema bulkhead.matrix/1: one line a cell, the denied ones
// too, since their cause is half of what the matrix says. So a matrix can be kept, compared and
// replayed without the site that it came from being compiled again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/coverage.h"
#include "policy/matrix.h"
#include "policy/support/result.h"

namespace bulkhead::compiler {

// In order of (from, to). Same value, same bytes.
[[nodiscard]] std::string to_json(const policy::Matrix& matrix, const Coverage& coverage);

struct MatrixCells {
  std::vector<policy::Cell> cells;     // as in policy::Matrix: only those with something said
  std::vector<CellCoverage> coverage;  // as in Coverage: every pair
};
// Strict: an unknown field, class or word is an error that names the line. Classes are known by
// name, so the lines are only good for the universe that they were made of.
[[nodiscard]] Result<MatrixCells> matrix_from_json(std::string_view lines,
                                                   const policy::Universe& universe);

}  // namespace bulkhead::compiler
