#include "policy/toml_reader.h"

#include <algorithm>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "policy/support/text.h"

namespace bulkhead::policy {

struct TomlDocument::Content {
  toml::table root;
  std::uint32_t file = 0;
  SourceMap* sources = nullptr;
  Diagnostics* diagnostics = nullptr;
  bool ascii = true;  // columns of toml++ are code points; bytes too where all is ASCII

  [[nodiscard]] SourcePos place(const toml::source_region& region) const;
};

namespace {

// toml++ 3.3 bounds the nesting of values (256) but neither of dotted keys, which nest as well, nor
// of its own recursion when it frees them: a line of a million dots overflows the stack.
constexpr std::size_t kMostDots = 64;

SourcePos line_with_too_many_dots(std::uint32_t file, std::string_view text) {
  SourcePos at{file, 1, 0};
  std::size_t dots = 0;
  for (const char c : text) {
    ++at.column;
    if (c == '.' && ++dots > kMostDots)
      return at;
    if (c == '\n' || c == '=' || c == ',' || c == '#')
      dots = 0;
    if (c == '\n') {
      ++at.line;
      at.column = 0;
    }
  }
  return {};
}

// Byte column of the given code point; an absurdly long line keeps what toml++ says.
std::uint32_t byte_column(std::string_view line, std::uint32_t code_point) {
  constexpr std::uint32_t kLongest = 4096;
  if (code_point > kLongest)
    return code_point;
  std::uint32_t seen = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if ((static_cast<unsigned char>(line[i]) & 0xc0) != 0x80 && ++seen == code_point)
      return static_cast<std::uint32_t>(i + 1);
  }
  return static_cast<std::uint32_t>(line.size() + 1);
}

std::string_view type_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a number with a point";
    case toml::node_type::boolean:
      return "a boolean";
    case toml::node_type::date:
      return "a date";
    case toml::node_type::none:
    case toml::node_type::time:
    case toml::node_type::date_time:
      break;
  }
  return "a time";
}

// What the two commonest slips look like to the parser is far from what the writer did.
std::string hint_for_syntax(std::string_view line) {
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos)
    return {};
  const std::string_view value = trimmed(line.substr(equals + 1));
  if (value.find("\"\"\"") == std::string_view::npos &&
      std::count(value.begin(), value.end(), '"') % 2 == 1)
    return "a string is not closed on this line: a quote is missing";
  const bool is_word = !value.empty() && ((value[0] >= 'a' && value[0] <= 'z') ||
                                          (value[0] >= 'A' && value[0] <= 'Z'));
  if (!is_word)
    return {};
  const std::string_view word = value.substr(0, value.find_first_of(" \t#,"));
  if (word == "True" || word == "False" || word == "TRUE" || word == "FALSE")
    return "true and false are written in small letters";
  return fmt::format("text stands in quotes: {} = \"{}\"", trimmed(line.substr(0, equals)), word);
}

}  // namespace

SourcePos TomlDocument::Content::place(const toml::source_region& region) const {
  SourcePos at{file, region.begin.line, region.begin.column};
  if (!ascii)
    at.column = byte_column(sources->line(at), at.column);
  return at;
}

TomlDocument::TomlDocument(std::unique_ptr<Content> content) : content_(std::move(content)) {}
TomlDocument::TomlDocument(TomlDocument&&) noexcept = default;
TomlDocument& TomlDocument::operator=(TomlDocument&&) noexcept = default;
TomlDocument::~TomlDocument() = default;

std::optional<TomlDocument> TomlDocument::read(const FileReader& reader, const std::string& path,
                                               const std::string& display_prefix,
                                               SourcePos named_at, SourceMap& sources,
                                               Diagnostics& diagnostics) {
  const auto file = read_source(reader, path, display_prefix, named_at, sources, diagnostics);
  if (!file)
    return std::nullopt;
  auto content = std::make_unique<Content>();
  content->file = *file;
  content->sources = &sources;
  content->diagnostics = &diagnostics;
  const std::string& text = sources.file(*file).text;
  content->ascii = std::none_of(text.begin(), text.end(), [](char c) { return c < 0; });
  if (const SourcePos at = line_with_too_many_dots(*file, text); at.line != 0) {
    diagnostics.error("nested-too-deeply", at,
                      fmt::format("more than {} dots in a row of names", kMostDots));
    return std::nullopt;
  }
  try {
    content->root = toml::parse(text);
  } catch (const toml::parse_error& error) {
    const SourcePos at = content->place(error.source());
    std::string_view line = sources.line(at);
    constexpr std::size_t kLongestLine = 300;  // longer ones are no slip of a person
    diagnostics.error("toml-syntax", at, std::string(error.description().substr(0, 300)),
                      line.size() > kLongestLine ? std::string() : hint_for_syntax(line));
    return std::nullopt;
  }
  return TomlDocument(std::move(content));
}

TomlTable TomlDocument::root() const {
  return {*content_,
          reinterpret_cast<const TomlTable::Node*>(&content_->root),
          "the file",
          {content_->file, 1, 1}};
}

std::uint32_t TomlDocument::file() const {
  return content_->file;
}

namespace {

// TomlTable::Node stands for toml::node in the header; only these two convert.
template <class Node>
const toml::node& real(const Node* node) {
  return *reinterpret_cast<const toml::node*>(node);
}
template <class Node>
const Node* opaque(const toml::node* node) {
  return reinterpret_cast<const Node*>(node);
}

}  // namespace

TomlTable::TomlTable(const TomlDocument::Content& content, const Node* table, std::string what,
                     SourcePos at)
    : content_(&content), table_(table), what_(std::move(what)), at_(at) {
  known_.reserve(16);
}

const TomlTable::Node* TomlTable::find(std::string_view key) {
  known_.push_back(key);
  return opaque<Node>(real(table_).as_table()->get(key));
}

bool TomlTable::has(std::string_view key) const {
  return real(table_).as_table()->contains(key);
}

SourcePos TomlTable::at(std::string_view key) const {
  const toml::node* node = real(table_).as_table()->get(key);
  return node ? content_->place(node->source()) : at_;
}

SourcePos TomlTable::key_at(std::string_view key) const {
  const toml::table& table = *real(table_).as_table();
  const auto found = table.find(key);
  return found == table.end() ? at_ : content_->place(found->first.source());
}

bool TomlTable::is_empty_array(std::string_view key) const {
  const auto* array = real(table_).as_table()->get_as<toml::array>(key);
  return array && array->empty();
}

bool TomlTable::ignore(std::string_view key) {
  known_.push_back(key);
  return has(key);
}

void TomlTable::wrong_type(const Node* node, std::string_view key, std::string_view wanted) {
  content_->diagnostics->error(
      "wrong-type", content_->place(real(node).source()),
      fmt::format("`{}` of {} must be {}, not {}", key, what_, wanted, type_of(real(node))));
}

std::optional<Name> TomlTable::name(std::string_view key) {
  const Node* node = find(key);
  if (!node)
    return std::nullopt;
  if (const auto* string = real(node).as_string())
    return Name{string->get(), content_->place(string->source())};
  wrong_type(node, key, "a string");
  return std::nullopt;
}

std::string TomlTable::text(std::string_view key) {
  auto found = name(key);
  return found ? std::move(found->text) : std::string();
}

template <class Take>
void TomlTable::each(std::string_view key, std::string_view wanted, Take take) {
  const Node* node = find(key);
  if (!node)
    return;
  const auto one = [&](const toml::node& element) {
    if (!take(element, content_->place(element.source())))
      wrong_type(opaque<Node>(&element), key, wanted);
  };
  if (const auto* array = real(node).as_array())
    std::for_each(array->begin(), array->end(), one);
  else
    one(real(node));
}

std::vector<Name> TomlTable::names(std::string_view key) {
  std::vector<Name> out;
  each(key, "a string or an array of strings", [&](const toml::node& element, SourcePos place) {
    const auto* string = element.as_string();
    if (string)
      out.push_back({string->get(), place});
    return string != nullptr;
  });
  return out;
}

std::vector<TomlItem> TomlTable::items(std::string_view key) {
  std::vector<TomlItem> out;
  each(key, "an integer, a string or an array of them",
       [&](const toml::node& element, SourcePos place) {
         const auto* string = element.as_string();
         const auto* integer = element.as_integer();
         // Into place: of a moved variant g++ 12 -O2 warns that it may not be initialized.
         if (string)
           out.emplace_back().value.emplace<std::string>(string->get());
         else if (integer)
           out.emplace_back().value.emplace<std::int64_t>(integer->get());
         else
           return false;
         out.back().at = place;
         return true;
       });
  return out;
}

std::optional<bool> TomlTable::boolean(std::string_view key) {
  const Node* node = find(key);
  if (!node)
    return std::nullopt;
  if (const auto* value = real(node).as_boolean())
    return value->get();
  wrong_type(node, key, "true or false");
  return std::nullopt;
}

std::optional<std::int64_t> TomlTable::integer(std::string_view key, std::int64_t least,
                                               std::int64_t most) {
  const Node* node = find(key);
  if (!node)
    return std::nullopt;
  const auto* value = real(node).as_integer();
  if (!value) {
    wrong_type(node, key, "an integer");
    return std::nullopt;
  }
  if (value->get() >= least && value->get() <= most)
    return value->get();
  content_->diagnostics->error(
      "out-of-range", content_->place(value->source()),
      fmt::format("`{}` of {} must be {} to {}, not {}", key, what_, least, most, value->get()));
  return std::nullopt;
}

std::optional<Date> TomlTable::date(std::string_view key) {
  const Node* node = find(key);
  if (!node)
    return std::nullopt;
  if (const auto* value = real(node).as_date()) {
    const toml::date& day = value->get();
    const Date date{std::chrono::year(day.year), std::chrono::month(day.month),
                    std::chrono::day(day.day)};
    if (date.ok())
      return date;
  } else if (const auto* string = real(node).as_string()) {
    if (const auto date = parse_date(string->get()))
      return date;
  } else {
    wrong_type(node, key, "a date such as 2027-06-30");
    return std::nullopt;
  }
  content_->diagnostics->error("bad-date", content_->place(real(node).source()),
                               fmt::format("`{}` of {} is not a date", key, what_),
                               "write it as 2027-06-30");
  return std::nullopt;
}

std::optional<TomlTable> TomlTable::as_table(const Node* node, std::string_view key,
                                             std::string what) {
  if (real(node).is_table())
    return TomlTable(*content_, node, std::move(what), content_->place(real(node).source()));
  wrong_type(node, key, "a table");
  return std::nullopt;
}

std::optional<TomlTable> TomlTable::table(std::string_view key) {
  const Node* node = find(key);
  return node ? as_table(node, key, fmt::format("`{}` of {}", key, what_)) : std::nullopt;
}

std::vector<TomlTable> TomlTable::tables(std::string_view key) {
  std::vector<TomlTable> out;
  const Node* node = find(key);
  if (!node)
    return out;
  const auto* array = real(node).as_array();
  if (!array) {
    wrong_type(node, key, fmt::format("an array of tables: [[{}]]", key));
    return out;
  }
  for (const auto& element : *array) {
    if (auto table = as_table(opaque<Node>(&element), key, std::string(key)))
      out.push_back(std::move(*table));
  }
  return out;
}

std::vector<std::pair<Name, TomlTable>> TomlTable::named_tables(std::string_view key) {
  std::vector<std::pair<Name, TomlTable>> out;
  const Node* node = find(key);
  if (!node)
    return out;
  const auto* table = real(node).as_table();
  if (!table) {
    wrong_type(node, key, fmt::format("a table of tables: [{}.NAME]", key));
    return out;
  }
  for (const auto& [name, value] : *table) {
    const std::string text(name.str());
    if (auto found =
            as_table(opaque<Node>(&value), text, fmt::format("{} {}", key, in_backticks(text))))
      out.emplace_back(Name{text, content_->place(name.source())}, std::move(*found));
  }
  return out;
}

bool TomlTable::require(std::string_view key) {
  if (has(key))
    return true;
  known_.push_back(key);
  content_->diagnostics->error("missing-key", at_, fmt::format("{} needs `{}`", what_, key));
  return false;
}

void TomlTable::finish() {
  for (const auto& [key, value] : *real(table_).as_table()) {
    if (std::find(known_.begin(), known_.end(), key.str()) != known_.end())
      continue;
    content_->diagnostics->error(
        "unknown-key", content_->place(key.source()),
        fmt::format("unknown key {} in {}", in_backticks(key.str()), what_),
        did_you_mean(key.str(), known_));
  }
}

}  // namespace bulkhead::policy
