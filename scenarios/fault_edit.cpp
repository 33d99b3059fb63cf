#include "scenarios/fault_edit.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace bulkhead::scenarios {

namespace {

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t from = 0;
  while (from < text.size()) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    lines.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines)
    text += line + '\n';
  return text;
}

std::string_view trimmed(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return line;
}

struct Span {  // lines [first, last) inside the braces
  std::size_t first = 0;
  std::size_t last = 0;
};

std::optional<Span> find_block(const std::vector<std::string>& lines, std::string_view block) {
  const std::string head = std::string(block) + " {";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (trimmed(lines[i]) != head)
      continue;
    int depth = 1;
    for (std::size_t end = i + 1; end < lines.size(); ++end) {
      depth += static_cast<int>(lines[end].ends_with('{')) -
               static_cast<int>(trimmed(lines[end]) == "}");
      if (depth == 0)
        return Span{i + 1, end};
    }
  }
  return std::nullopt;
}

}  // namespace

Result<std::string> edit_ruleset(const std::string& text, std::string_view block,
                                 std::string_view find, std::string_view replacement) {
  std::vector<std::string> lines = split_lines(text);
  const auto span = block.empty() ? Span{0, lines.size()} : find_block(lines, block);
  if (!span)
    return fail(ErrorKind::Usage, "the ruleset has no block `" + std::string(block) + "`");
  const auto at = [&](std::size_t line) {
    return lines.begin() + static_cast<std::ptrdiff_t>(line);
  };
  if (find.empty()) {
    lines.insert(at(span->last), std::string(replacement));
    return joined(lines);
  }
  const auto line = std::find_if(
      at(span->first), at(span->last),
      [&](const std::string& candidate) { return candidate.find(find) != std::string::npos; });
  if (line == at(span->last))
    return fail(ErrorKind::Usage,
                "no line of `" + std::string(block) + "` has `" + std::string(find) + "`");
  if (replacement.empty())
    lines.erase(line);
  else
    line->replace(line->find(find), find.size(), replacement);
  return joined(lines);
}

}  // namespace bulkhead::scenarios
