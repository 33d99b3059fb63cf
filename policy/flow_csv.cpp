#include "policy/flow_csv.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "policy/parse_parts.h"
#include "policy/support/csv.h"
#include "policy/support/text.h"

namespace bulkhead::policy {

namespace {

std::vector<Name> split(const CsvCell& cell) {
  constexpr std::string_view kSeparators = " ;\t\r\n";
  std::vector<Name> out;
  std::size_t begin = 0;
  while ((begin = cell.text.find_first_not_of(kSeparators, begin)) != std::string::npos) {
    const std::size_t end = std::min(cell.text.find_first_of(kSeparators, begin), cell.text.size());
    out.push_back({cell.text.substr(begin, end - begin), cell.at});
    begin = end;
  }
  return out;
}

std::string lower(std::string_view text) {
  std::string out(trimmed(text));
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// One row; a missing column reads as an empty cell.
class Row {
 public:
  Row(const CsvTable& table, const std::vector<CsvCell>& cells, Diagnostics& diagnostics)
      : table_(table), cells_(cells), diagnostics_(diagnostics) {}

  [[nodiscard]] CsvCell cell(std::string_view column) const {
    const int index = table_.column(column);
    return index < 0 ? CsvCell{{}, cells_[0].at} : cells_[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] std::string id() const {
    const CsvCell found = cell("id");
    const Name id{std::string(trimmed(found.text)), found.at};
    return check_id(id, diagnostics_) ? id.text : std::string();
  }
  [[nodiscard]] std::vector<Name> list(std::string_view column) const {
    const CsvCell found = cell(column);
    auto words = split(found);
    if (words.empty())
      diagnostics_.warning("empty-list", found.at,
                           fmt::format("`{}` is empty: that is nobody", column));
    return words;
  }
  [[nodiscard]] Action action() const {
    const CsvCell found = cell("action");
    const std::string word = lower(found.text);
    if (word == "deny")
      return Action::Deny;
    if (!word.empty() && word != "allow")
      bad(found, "`action` must be allow or deny", did_you_mean(word, {"allow", "deny"}));
    return Action::Allow;
  }
  [[nodiscard]] bool both_ways() const {
    const CsvCell found = cell("both_ways");
    const std::string word = lower(found.text);
    if (word == "true" || word == "yes" || word == "1")
      return true;
    if (!word.empty() && word != "false" && word != "no" && word != "0")
      bad(found, "`both_ways` must be true or false", {});
    return false;
  }
  [[nodiscard]] std::optional<Date> expires() const {
    const CsvCell found = cell("expires");
    const std::string_view text = trimmed(found.text);
    const auto date = parse_date(text);
    if (!text.empty() && !date)
      diagnostics_.error("bad-date", found.at, fmt::format("{} is not a date", in_backticks(text)),
                         "write it as 2027-06-30");
    return date;
  }

 private:
  void bad(const CsvCell& found, std::string_view rule, std::string hint) const {
    diagnostics_.error("bad-value", found.at,
                       fmt::format("{}, not {}", rule, in_backticks(found.text)), std::move(hint));
  }

  const CsvTable& table_;
  const std::vector<CsvCell>& cells_;
  Diagnostics& diagnostics_;
};

std::string joined(const std::vector<Selector>& selectors) {
  std::vector<std::string> words;
  for (const Selector& selector : selectors)
    words.push_back(selector.str());
  return fmt::format("{}", fmt::join(words, " "));
}

std::string joined(const std::vector<Name>& names) {
  std::vector<std::string_view> words;
  for (const Name& name : names)
    words.push_back(name.text);
  return fmt::format("{}", fmt::join(words, " "));
}

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\u{:04x}", byte);
    else
      out += c;
  }
  return out + '"';
}

template <class T, class Text>
std::string toml_list(const std::vector<T>& values, const Text& text) {
  std::vector<std::string> words;
  for (const T& value : values)
    words.push_back(toml_string(text(value)));
  return fmt::format("[{}]", fmt::join(words, ", "));
}

}  // namespace

std::vector<Flow> parse_flow_csv(std::uint32_t file, const SourceMap& sources,
                                 Diagnostics& diagnostics) {
  const CsvTable table = parse_csv(file, sources, diagnostics);
  std::vector<Flow> flows;
  if (!check_csv_header(table, {std::begin(kFlowColumns), std::end(kFlowColumns)},
                        {std::begin(kFlowColumns), std::begin(kFlowColumns) + 4}, diagnostics))
    return flows;
  std::map<std::string, SourcePos> ids;
  for (const auto& cells : table.rows) {
    const std::size_t errors_before = diagnostics.error_count();
    const Row row(table, cells, diagnostics);
    Flow flow;
    flow.at = cells[0].at;
    flow.id = row.id();
    flow.from = parse_selectors(row.list("from"), diagnostics);
    flow.to = parse_selectors(row.list("to"), diagnostics);
    flow.services = row.list("services");
    flow.action = row.action();
    flow.both_ways = row.both_ways();
    flow.why = row.cell("why").text;
    flow.owner = row.cell("owner").text;
    flow.ticket = row.cell("ticket").text;
    flow.expires = row.expires();
    flow.expires_at = row.cell("expires").at;
    const auto [first, added] = ids.try_emplace(flow.id, flow.at);
    if (!added && !flow.id.empty())
      diagnostics
          .error("duplicate-id", flow.at, fmt::format("id {} is used twice", in_backticks(flow.id)))
          .related.push_back({first->second, "first used here"});
    if (diagnostics.error_count() == errors_before)
      flows.push_back(std::move(flow));
  }
  return flows;
}

std::string to_csv(const std::vector<Flow>& flows) {
  std::string out = fmt::format("{}\n", fmt::join(kFlowColumns, ","));
  for (const Flow& flow : flows) {
    const std::string cells[] = {flow.id,
                                 joined(flow.from),
                                 joined(flow.to),
                                 joined(flow.services),
                                 flow.action == Action::Allow ? "allow" : "deny",
                                 flow.both_ways ? "true" : "false",
                                 flow.why,
                                 flow.owner,
                                 flow.ticket,
                                 flow.expires ? format_date(*flow.expires) : ""};
    std::vector<std::string> written;
    for (const std::string& cell : cells)
      written.push_back(csv_cell(cell));
    out += fmt::format("{}\n", fmt::join(written, ","));
  }
  return out;
}

std::string to_toml(const std::vector<Flow>& flows) {
  const auto selector = [](const Selector& one) { return one.str(); };
  const auto name = [](const Name& one) { return one.text; };
  std::string out;
  for (const Flow& flow : flows) {
    out += fmt::format("[[flow]]\nid = {}\nfrom = {}\nto = {}\nservices = {}\naction = \"{}\"\n",
                       toml_string(flow.id), toml_list(flow.from, selector),
                       toml_list(flow.to, selector), toml_list(flow.services, name),
                       flow.action == Action::Allow ? "allow" : "deny");
    if (flow.both_ways)
      out += "both_ways = true\n";
    for (const auto& [key, text] : {std::pair("why", &flow.why), std::pair("owner", &flow.owner),
                                    std::pair("ticket", &flow.ticket)}) {
      if (!text->empty())
        out += fmt::format("{} = {}\n", key, toml_string(*text));
    }
    if (flow.expires)
      out += fmt::format("expires = {}\n", format_date(*flow.expires));
    out += '\n';
  }
  return out;
}

}  // namespace bulkhead::policy
