// The pages hold what they say: each block of docs/policy-language.md is checked as a part of the
// site that the page describes, and docs/diagnostics.md has the codes of the source, no more and no
// less.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "compiler/site.h"

namespace bulkhead {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAreArray;

const fs::path kSource = BULKHEAD_SOURCE_DIR;

std::string read_file(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

struct Block {
  std::size_t line = 0;
  std::vector<std::string> tags;  // words after ```toml
  std::string text;
  [[nodiscard]] bool has(const std::string& tag) const {
    return std::find(tags.begin(), tags.end(), tag) != tags.end();
  }
};

std::vector<Block> blocks_of_page() {
  std::istringstream page(read_file(kSource / "docs/policy-language.md"));
  std::vector<Block> blocks;
  bool inside = false;
  std::string line;
  for (std::size_t number = 1; std::getline(page, line); ++number) {
    if (inside && line == "```") {
      inside = false;
    } else if (inside) {
      blocks.back().text += line + "\n";
    } else if (line.starts_with("```")) {
      inside = true;
      std::istringstream words(line.substr(3));
      std::string language, tag;
      words >> language;
      blocks.push_back({number, {}, {}});
      while (words >> tag)
        blocks.back().tags.push_back(tag);
    }
  }
  return blocks;
}

std::string text_of(const std::vector<Block>& blocks, const std::string& tag) {
  const auto found = std::find_if(blocks.begin(), blocks.end(),
                                  [&](const Block& block) { return block.has(tag); });
  return found == blocks.end() ? std::string() : found->text;
}

constexpr const char* kPlacing[] = {"inventory", "tenant=red", "with-offers", "ok"};
constexpr const char* kMaterial[] = {"base", "base-inventory", "offers"};

std::vector<std::string> codes_wanted(const Block& block) {
  std::vector<std::string> codes = block.tags;
  for (const char* tag : kPlacing)
    std::erase(codes, tag);
  std::sort(codes.begin(), codes.end());
  return codes;
}

compiler::Site site_of(const Block& block, const std::vector<Block>& blocks) {
  std::string policy = text_of(blocks, "base");
  std::string inventory = text_of(blocks, "base-inventory");
  std::string red;
  if (block.has("with-offers"))
    policy += text_of(blocks, "offers");
  if (block.has("tenant=red")) {
    policy = "include = [{ file = \"red.toml\", tenant = \"red\" }]\n" + policy;
    red = block.text;
  } else {
    (block.has("inventory") ? inventory : policy) += block.text;
  }
  return compiler::load_site(
      policy::memory_reader(
          {{"policy.toml", policy}, {"inventory.toml", inventory}, {"red.toml", red}}),
      *policy::parse_date("2026-12-01"));
}

TEST(PolicyLanguagePage, EachBlockMeansWhatItsTagSays) {
  const std::vector<Block> blocks = blocks_of_page();
  ASSERT_GT(blocks.size(), 50U);
  for (const Block& block : blocks) {
    if (std::any_of(std::begin(kMaterial), std::end(kMaterial),
                    [&](const char* tag) { return block.has(tag); }))
      continue;
    ASSERT_FALSE(block.tags.empty()) << "docs/policy-language.md:" << block.line;
    const compiler::Site site = site_of(block, blocks);
    std::vector<std::string> codes;
    for (const Diagnostic& item : site.diagnostics.all())
      if (!item.code.starts_with("unused-"))  // examples share their services
        codes.push_back(item.code);
    std::sort(codes.begin(), codes.end());
    EXPECT_THAT(codes, ElementsAreArray(codes_wanted(block)))
        << "docs/policy-language.md:" << block.line << "\n"
        << render(site.diagnostics, site.sources, false);
  }
}

// The words in `quote`s that stand directly behind `before`, blanks apart.
std::set<std::string> quoted_words(std::string_view text, std::string_view before, char quote) {
  std::set<std::string> out;
  for (std::size_t at = text.find(before); at != std::string_view::npos;
       at = text.find(before, at)) {
    at += before.size();
    const std::size_t open = text.find_first_not_of(" \n", at);
    if (open == std::string_view::npos || text[open] != quote)
      continue;
    const std::size_t close = text.find(quote, open + 1);
    out.emplace(text.substr(open + 1, close - open - 1));
    at = close;
  }
  return out;
}

TEST(DiagnosticsPage, HasARowForEveryCodeAndNoOther) {
  std::set<std::string> in_source;
  for (const char* folder : {"policy", "policy/support", "compiler", "scenarios"}) {
    for (const auto& entry : fs::directory_iterator(kSource / folder)) {
      if (entry.path().extension() != ".cpp")
        continue;
      const std::string text = read_file(entry.path());
      for (const char* call : {"error(", "warning(", "note(", " addresses(", " macs("})
        in_source.merge(quoted_words(text, call, '"'));
    }
  }
  const std::string page = read_file(kSource / "docs/diagnostics.md");
  EXPECT_EQ(quoted_words(page, "\n| ", '`'), in_source);
}

}  // namespace
}  // namespace bulkhead
