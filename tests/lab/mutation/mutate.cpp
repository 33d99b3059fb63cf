#include "mutate.h"

#include <algorithm>
#include <array>
#include <cstdlib>
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

// A verdict is a word of its own: the counters are called drops_<class>.
std::size_t find_word(const std::string& line, const std::string& word) {
  for (auto at = line.find(word); at != std::string::npos; at = line.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || line[at - 1] == ' ') && (end == line.size() || line[end] == ' '))
      return at;
  }
  return std::string::npos;
}

bool flip(Lines& lines, std::size_t at, std::mt19937_64&) {
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>{"accept", "drop"}, {"drop", "accept"}}) {
    const std::size_t place = find_word(lines[at], from);
    if (place == std::string::npos)
      continue;
    lines[at].replace(place, from.size(), to);
    return true;
  }
  return false;
}

// A port by one on each side, a pair of hosts to their whole network.
bool widen(Lines& lines, std::size_t at, std::mt19937_64&) {
  std::string& line = lines[at];
  if (const auto port = line.find("dport "); port != std::string::npos) {
    const int number = std::atoi(line.c_str() + port + 6);
    const std::string text = std::to_string(number);
    if (number < 2 || line.compare(port + 6, text.size() + 1, text + ' ') != 0)
      return false;
    line.replace(port + 6, text.size(),
                 std::to_string(number - 1) + "-" + std::to_string(number + 1));
    return true;
  }
  const auto first = line.find(".11-");
  const auto last = line.find(".12 :");
  if (first == std::string::npos || last == std::string::npos)
    return false;
  line.replace(last, 3, ".250");
  line.replace(first, 3, ".2");
  return true;
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
