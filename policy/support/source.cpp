#include "policy/support/source.h"

#include <fmt/format.h>

namespace bulkhead {

std::uint32_t SourceMap::add(std::string name, std::string text) {
  std::vector<std::uint32_t> starts{0};
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', end + 1))
    starts.push_back(static_cast<std::uint32_t>(end + 1));
  line_starts_.push_back(std::move(starts));
  files_.push_back({std::move(name), std::move(text)});
  return static_cast<std::uint32_t>(files_.size() - 1);
}

std::string_view SourceMap::line(SourcePos at) const {
  if (at.line == 0 || at.file >= files_.size() || at.line > line_starts_[at.file].size())
    return {};
  std::string_view line = files_[at.file].text;
  line.remove_prefix(line_starts_[at.file][at.line - 1]);
  line = line.substr(0, line.find('\n'));
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
