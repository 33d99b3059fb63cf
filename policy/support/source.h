// Where a piece of text came from. Every value parsed from a user's file keeps a SourcePos, so that
// a later finding, however deep in the pipeline, can show the line that caused it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bulkhead {

// Index into a SourceMap, 1-based line and column (column counts bytes). line == 0: no position.
struct SourcePos {
  std::uint32_t file = 0;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  auto operator<=>(const SourcePos&) const = default;
};

struct SourceFile {
  std::string name;  // as the user would type it, relative to where the command was given
  std::string text;
};

// Owns the texts of all files read in one run. Positions stay valid as long as the map lives.
class SourceMap {
 public:
  std::uint32_t add(std::string name, std::string text);
  [[nodiscard]] const SourceFile& file(std::uint32_t index) const { return files_[index]; }
  [[nodiscard]] std::size_t size() const { return files_.size(); }
  // The line without its end (LF or CRLF); empty if there is none. Cost does not grow with the
  // file.
  [[nodiscard]] std::string_view line(SourcePos at) const;
  // "policy.toml:12:5"; the file alone for a position without a line.
  [[nodiscard]] std::string place(SourcePos at) const;

 private:
  std::vector<SourceFile> files_;
  std::vector<std::vector<std::uint32_t>> line_starts_;  // offsets, one list a file
};

}  // namespace bulkhead
