#include "compiler/proof/rule_texts.h"

#include <charconv>
#include <map>
#include <string>
#include <utility>

namespace bulkhead::compiler::proof {

namespace {

constexpr std::size_t kMost = 120;
constexpr std::string_view kHandle = " # handle ";

std::string_view trimmed(std::string_view line) {
  const auto first = line.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : line.substr(first);
}

// A rule's counters change, and its comment has a place of its own.
std::string shortened(std::string text) {
  if (const auto comment = text.rfind(" comment \""); comment != std::string::npos)
    text.resize(comment);
  if (const auto counter = text.find("counter packets "); counter != std::string::npos) {
    auto end = text.find(" bytes ", counter);
    end = end == std::string::npos ? end : text.find(' ', end + 7);
    text.erase(counter, end == std::string::npos ? end : end + 1 - counter);
  }
  if (text.size() > kMost) {
    text.resize(kMost);
    text += "...";
  }
  return text;
}

using Place = std::pair<std::string, std::uint64_t>;  // "inet filter", handle

std::map<Place, std::string> texts_of(std::string_view listing) {
  std::map<Place, std::string> out;
  std::string table, rule;
  bool in_chain = false;
  while (!listing.empty()) {
    const auto end = listing.find('\n');
    const std::string_view whole = listing.substr(0, end);
    listing.remove_prefix(end == std::string_view::npos ? listing.size() : end + 1);
    const std::string_view line = trimmed(whole);
    const auto handle = line.rfind(kHandle);
    if (whole.starts_with("table ")) {
      // "table inet filter { # handle 3"
      table = std::string(line.substr(6, line.find(" {") - 6));
    } else if (whole.starts_with("\tchain ")) {
      in_chain = true;
    } else if (whole == "\t}") {
      in_chain = false;
      rule.clear();
    } else if (in_chain) {
      rule += (rule.empty() ? "" : " ") + std::string(line.substr(0, handle));
      if (handle == std::string_view::npos) {
        if (line.ends_with(";") || line.starts_with("comment "))
          rule.clear();  // "type filter hook ...;", "comment ..." of the chain
        continue;
      }
      std::uint64_t number = 0;
      const std::string_view digits = line.substr(handle + kHandle.size());
      std::from_chars(digits.data(), digits.data() + digits.size(), number);
      out.emplace(Place(table, number), shortened(std::move(rule)));
      rule.clear();
    }
  }
  return out;
}

}  // namespace

void add_rule_texts(Ruleset& ruleset, std::string_view listing) {
  if (listing.empty())
    return;
  const auto texts = texts_of(listing);
  for (Chain& chain : ruleset.chains) {
    const Table& table = ruleset.table_of(chain);
    for (Rule& rule : chain.rules) {
      const auto found =
          texts.find({std::string(to_string(table.family)) + " " + table.name, rule.handle});
      if (found != texts.end())
        rule.text = found->second;
    }
  }
}

}  // namespace bulkhead::compiler::proof
