#include "policy/support/csv.h"

#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/format.h>

#include "policy/support/text.h"

namespace bulkhead {

namespace {

constexpr std::size_t kMostRows = 1000000;
constexpr std::string_view kFormulaStart("=+-@\t\r");

// A run of apostrophes before a formula character: what csv_cell() makes longer by one, and
// parse_csv() shorter.
bool looks_like_formula(std::string_view text) {
  const std::size_t at = text.find_first_not_of('\'');
  return at != std::string_view::npos && kFormulaStart.find(text[at]) != std::string_view::npos;
}

std::string lower(std::string_view text) {
  std::string out(trimmed(text));
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

class Scanner {
 public:
  Scanner(std::uint32_t file, std::string_view text, Diagnostics& diagnostics)
      : text_(text), here_{file, 1, 1}, diagnostics_(diagnostics) {}

  [[nodiscard]] bool at_end() const { return next_ >= text_.size(); }

  struct Row {
    std::vector<CsvCell> cells;
    bool sound = true;  // what is wrong with it has been reported
  };
  Row row() {
    Row row;
    while (true) {
      row.cells.push_back(cell(row.sound));
      if (at_end() || text_[next_] != ',')
        break;
      step();
    }
    end_line();
    return row;
  }

 private:
  void step() {
    if (text_[next_++] == '\n') {
      ++here_.line;
      here_.column = 1;
    } else {
      ++here_.column;
    }
  }
  [[nodiscard]] bool at_line_end() const {
    return at_end() || text_[next_] == '\n' || text_.substr(next_, 2) == "\r\n";
  }
  void end_line() {
    while (!at_end() && text_[next_] != '\n')
      step();
    if (!at_end())
      step();
  }
  CsvCell cell(bool& sound) {
    CsvCell cell{{}, here_};
    if (!at_end() && text_[next_] == '"') {
      quoted_cell(cell, sound);
    } else {
      while (!at_line_end() && text_[next_] != ',') {
        if (text_[next_] == '"' && sound)
          complain(sound, here_, "a quote inside a cell that does not begin with one",
                   "put the whole cell in quotes and double those inside it");
        cell.text += text_[next_];
        step();
      }
    }
    if (cell.text.find('\0') != std::string::npos)
      complain(sound, cell.at, "the cell holds a NUL byte", {});
    if (cell.text.starts_with('\'') && looks_like_formula(cell.text))
      cell.text.erase(0, 1);
    return cell;
  }
  void quoted_cell(CsvCell& cell, bool& sound) {
    step();
    while (!at_end()) {
      if (text_[next_] != '"') {
        cell.text += text_[next_];
        step();
        continue;
      }
      step();
      if (at_end() || text_[next_] != '"') {
        if (!at_line_end() && text_[next_] != ',')
          complain(sound, here_, "text after the closing quote of a cell", {});
        while (!at_line_end() && text_[next_] != ',')
          step();
        return;
      }
      cell.text += '"';
      step();
    }
    complain(sound, cell.at, "the quote is never closed", {});
  }
  void complain(bool& sound, SourcePos at, std::string message, std::string hint) {
    sound = false;
    diagnostics_.error("csv-syntax", at, std::move(message), std::move(hint));
  }

  std::string_view text_;
  std::size_t next_ = 0;
  SourcePos here_;
  Diagnostics& diagnostics_;
};

bool is_blank(const Scanner::Row& row) {
  return row.cells.size() == 1 && trimmed(row.cells[0].text).empty();
}

}  // namespace

int CsvTable::column(std::string_view name) const {
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (lower(header[i].text) == name)
      return static_cast<int>(i);
  }
  return -1;
}

CsvTable parse_csv(std::uint32_t file, const SourceMap& sources, Diagnostics& diagnostics) {
  const std::size_t errors_before = diagnostics.error_count();
  CsvTable table;
  Scanner scanner(file, sources.file(file).text, diagnostics);
  while (!scanner.at_end()) {
    auto row = scanner.row();
    if (!row.sound || is_blank(row))
      continue;
    const SourcePos at = row.cells[0].at;
    if (table.header.empty()) {
      table.header = std::move(row.cells);
      continue;
    }
    if (row.cells.size() != table.header.size()) {
      diagnostics.error("csv-ragged", at,
                        fmt::format("the row has {} cells, the header {}", row.cells.size(),
                                    table.header.size()));
      continue;
    }
    if (table.rows.size() == kMostRows) {
      diagnostics.error("csv-too-long", at, fmt::format("more than {} rows", kMostRows));
      break;
    }
    table.rows.push_back(std::move(row.cells));
  }
  if (table.header.empty() && diagnostics.error_count() == errors_before)
    diagnostics.error("csv-syntax", {file, 1, 1},
                      "the file is empty: its first row names the columns");
  return table;
}

bool check_csv_header(const CsvTable& table, const std::vector<std::string_view>& known,
                      const std::vector<std::string_view>& required, Diagnostics& diagnostics) {
  if (table.header.empty())
    return false;
  const std::size_t errors_before = diagnostics.error_count();
  if (table.header.size() == 1 && table.header[0].text.find_first_of(";\t") != std::string::npos) {
    diagnostics.error("csv-syntax", table.header[0].at, "the columns are not separated by commas",
                      "save the sheet as comma-separated CSV, UTF-8");
    return false;
  }
  std::set<std::string> seen;
  for (const CsvCell& cell : table.header) {
    const std::string name = lower(cell.text);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      diagnostics.error("unknown-column", cell.at,
                        fmt::format("unknown column {}", in_backticks(name)),
                        did_you_mean(name, known));
    } else if (!seen.insert(name).second) {
      diagnostics.error("duplicate-column", cell.at, fmt::format("column `{}` occurs twice", name));
    }
  }
  for (const std::string_view name : required) {
    if (table.column(name) < 0)
      diagnostics.error("missing-column", table.header[0].at,
                        fmt::format("the header lacks column `{}`", name));
  }
  return diagnostics.error_count() == errors_before;
}

std::string csv_cell(std::string_view text) {
  std::string plain(text);
  if (looks_like_formula(text))
    plain.insert(0, 1, '\'');
  if (plain.find_first_of(",\"\r\n") == std::string::npos)
    return plain;
  std::string out = "\"";
  for (const char c : plain) {
    out += c;
    if (c == '"')
      out += '"';
  }
  return out + '"';
}

}  // namespace bulkhead
