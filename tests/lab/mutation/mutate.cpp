#include "mutate.h"

#include <algorithm>
#include <array>
#include <regex>
#include <sstream>
#include <vector>

namespace bulkhead::testing {

namespace {

using Lines = std::vector<std::string>;

Lines split(const std::string& text) {
  Lines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

// A rule or an element: not a brace, not a declaration.
bool is_statement(const std::string& line) {
  if (line.find_first_of("{}") != std::string::npos && line.find("type {") == std::string::npos)
    return false;
  for (const char* declaration :
       {"table ", "type ipv", "type ifname", "type inet", "flags ", "#", "comment \"sha256"})
    if (line.find(declaration) != std::string::npos)
      return false;
  return line.find_first_not_of(' ') != std::string::npos;
}

bool is_chain_rule(const std::string& line) {
  return is_statement(line) && line.find(" : ") == std::string::npos &&
         line.find("type filter") == std::string::npos;
}

bool remove(Lines& lines, std::size_t at, std::mt19937_64&) {
  if (lines[at].find("type filter") != std::string::npos)
    return false;
  lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
  return true;
}

bool flip(Lines& lines, std::size_t at, std::mt19937_64&) {
  for (const auto& [from, to] : {std::pair{"accept", "drop"}, {"drop", "accept"}}) {
    // The counters are called drops_<class>: a verdict is a word of its own.
    const std::regex word(std::string("\\b") + from + "\\b");
    if (std::regex_search(lines[at], word)) {
      lines[at] = std::regex_replace(lines[at], word, to, std::regex_constants::format_first_only);
      return true;
    }
  }
  return false;
}

bool widen(Lines& lines, std::size_t at, std::mt19937_64&) {
  static const std::regex port("dport ([0-9]+)( |$)");
  static const std::regex pair("([0-9.]+)\\.11-[0-9.]+\\.12 :");
  std::smatch found;
  if (std::regex_search(lines[at], found, port)) {
    const int first = std::stoi(found[1]);
    lines[at] = std::regex_replace(
        lines[at], port,
        "dport " + std::to_string(first - 1) + "-" + std::to_string(first + 1) + " ");
    return true;
  }
  if (std::regex_search(lines[at], found, pair)) {
    lines[at] = std::regex_replace(lines[at], pair, "$1.2-$1.250 :");
    return true;
  }
  return false;
}

bool swap_with_next(Lines& lines, std::size_t at, std::mt19937_64&) {
  if (at + 1 >= lines.size() || !is_chain_rule(lines[at]) || !is_chain_rule(lines[at + 1]))
    return false;
  std::swap(lines[at], lines[at + 1]);
  return true;
}

// The rule goes to another place of its chain.
bool reorder(Lines& lines, std::size_t at, std::mt19937_64& random) {
  std::size_t first = at, last = at;
  while (first > 0 && is_chain_rule(lines[first - 1]))
    --first;
  while (last + 1 < lines.size() && is_chain_rule(lines[last + 1]))
    ++last;
  if (!is_chain_rule(lines[at]) || first == last)
    return false;
  const std::string rule = lines[at];
  lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
  const std::size_t to = first + random() % (last - first + 1);
  lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(to), rule);
  return true;
}

struct Kind {
  const char* name;
  bool (*apply)(Lines&, std::size_t, std::mt19937_64&);
};
constexpr std::array<Kind, 5> kKinds = {{{"delete", remove},
                                         {"flip", flip},
                                         {"widen", widen},
                                         {"swap", swap_with_next},
                                         {"reorder", reorder}}};

}  // namespace

std::optional<Mutation> mutate(const std::string& text, std::mt19937_64& random) {
  Lines lines = split(text);
  const std::size_t at = random() % lines.size();
  const Kind& kind = kKinds[random() % kKinds.size()];
  if (!is_statement(lines[at]))
    return std::nullopt;
  const std::string before = lines[at];
  if (!kind.apply(lines, at, random))
    return std::nullopt;
  Mutation mutation;
  for (const auto& line : lines)
    mutation.text += line + '\n';
  mutation.story = std::string(kind.name) + " line " + std::to_string(at + 1) + ": " +
                   before.substr(before.find_first_not_of(' '));
  return mutation;
}

}  // namespace bulkhead::testing
