#include "policy/support/source.h"

#include <fmt/format.h>

namespace bulkhead {

std::uint32_t SourceMap::add(std::string name, std::string text) {
  files_.push_back({std::move(name), std::move(text)});
  return static_cast<std::uint32_t>(files_.size() - 1);
}

std::string_view SourceMap::line(SourcePos at) const {
  if (at.line == 0 || at.file >= files_.size())
    return {};
  std::string_view text = files_[at.file].text;
  for (std::uint32_t number = 1; number < at.line; ++number) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos)
      return {};
    text.remove_prefix(end + 1);
  }
  std::string_view line = text.substr(0, text.find('\n'));
  if (line.ends_with('\r'))
    line.remove_suffix(1);
  return line;
}

std::string SourceMap::place(SourcePos at) const {
  if (at.file >= files_.size())
    return {};
  if (at.line == 0)
    return files_[at.file].name;
  return fmt::format("{}:{}:{}", files_[at.file].name, at.line, at.column);
}

}  // namespace bulkhead
