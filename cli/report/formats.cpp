#include "cli/report/formats.h"

#include <algorithm>
#include <cassert>
#include <iterator>

namespace bulkhead::cli {
namespace {

constexpr Format kFormats[] = {
    {"text", to_text},
    {"json", to_json},
    {"junit", to_junit},
};

}  // namespace

std::span<const Format> formats() {
  return kFormats;
}

std::vector<std::string_view> format_names() {
  std::vector<std::string_view> names;
  std::transform(std::begin(kFormats), std::end(kFormats), std::back_inserter(names),
                 [](const Format& format) { return format.name; });
  return names;
}

std::string render_report(std::string_view name, const Report& report, const View& view) {
  const auto* const row = std::find_if(std::begin(kFormats), std::end(kFormats),
                                       [&](const Format& format) { return format.name == name; });
  assert(row != std::end(kFormats));
  return row->render(report, view);
}

}  // namespace bulkhead::cli
