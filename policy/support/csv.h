// CSV as spreadsheets write it (RFC 4180): comma-separated, cells optionally in double quotes with
// "" for a quote, LF or CRLF. The first row names the columns. Cells keep the place where they
// start.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/support/diagnostic.h"
#include "policy/support/source.h"

namespace bulkhead {

struct CsvCell {
  std::string text;
  SourcePos at;
};

class CsvTable {
 public:
  std::vector<CsvCell> header;
  std::vector<std::vector<CsvCell>> rows;  // each as long as the header; blank lines are left out

  // Index of a column by name (case and blanks around it do not matter), or -1.
  [[nodiscard]] int column(std::string_view name) const;
};

// Rows with too few or too many cells, a quote that never ends or stands inside a bare cell, NUL
// bytes and more than a million rows are diagnostics; such rows are left out. `file` is already in
// `sources` (without a byte-order mark: file_reader.h).
[[nodiscard]] CsvTable parse_csv(std::uint32_t file, const SourceMap& sources,
                                 Diagnostics& diagnostics);

// Each column name must be one of `known`, and once only; reported with "did you mean". False if
// anything is wrong with the header: the rows then mean nothing.
bool check_csv_header(const CsvTable& table, const std::vector<std::string_view>& known,
                      const std::vector<std::string_view>& required, Diagnostics& diagnostics);

// One cell, quoted where RFC 4180 asks for it. A cell that a spreadsheet would run as a formula
// (begins with = + - @ TAB CR, or with ' before one of them) gets a leading apostrophe, which
// parse_csv takes off again, so that text survives the round trip.
[[nodiscard]] std::string csv_cell(std::string_view text);

}  // namespace bulkhead
