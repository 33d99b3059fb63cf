// The formats of a report: one file and one row of the table in formats.cpp each
// (docs/adding-a-report.md).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/report/report.h"

namespace bulkhead::cli {

struct View {  // of the text format; the others do not depend on who looks
  bool color = false;
  int width = 100;
  bool all = false;  // every line, none summed up
};

[[nodiscard]] std::string to_text(const Report& report, const View& view);
[[nodiscard]] std::string to_json(const Report& report, const View& view);   // bulkhead.report/1
[[nodiscard]] std::string to_junit(const Report& report, const View& view);  // a testcase a cell

struct Format {
  std::string_view name;
  std::string (*render)(const Report& report, const View& view) = nullptr;
};
[[nodiscard]] std::span<const Format> formats();  // the default first
[[nodiscard]] std::vector<std::string_view> format_names();
// Precondition: `name` is one of format_names().
[[nodiscard]] std::string render_report(std::string_view name, const Report& report,
                                        const View& view);

}  // namespace bulkhead::cli
