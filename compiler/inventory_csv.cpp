#include "compiler/inventory_csv.h"

#include <fmt/format.h>

#include <algorithm>

#include "policy/support/csv.h"
#include "policy/support/text.h"

namespace bulkhead::compiler {
namespace {

// The rows of one file, with the places of its columns looked up once.
struct Sheet {
  CsvTable table;
  std::map<std::string_view, std::size_t> columns;
};

std::optional<Sheet> read_sheet(const Name& file, const InventorySource& source,
                                const std::vector<std::string_view>& known,
                                const std::vector<std::string_view>& required) {
  const auto index = policy::read_source(source.read, file.text, source.display_prefix, file.at,
                                         source.sources, source.diagnostics);
  if (!index)
    return std::nullopt;
  CsvTable table = parse_csv(*index, source.sources, source.diagnostics);
  check_csv_header(table, known, required, source.diagnostics);
  Sheet sheet{std::move(table), {}};
  for (const std::string_view name : known)
    if (const int column = sheet.table.column(name); column >= 0)
      sheet.columns.emplace(name, static_cast<std::size_t>(column));
  for (const std::string_view name : required)
    if (!sheet.columns.contains(name))
      return std::nullopt;
  return sheet;
}

// One row, by column name. A column that the file does not have is an empty cell.
class Row {
 public:
  Row(const Sheet& sheet, const std::vector<CsvCell>& cells, Diagnostics& diagnostics)
      : sheet_(sheet), cells_(cells), diagnostics_(diagnostics) {}

  [[nodiscard]] Name cell(std::string_view column) const {
    const auto index = sheet_.columns.find(column);
    if (index == sheet_.columns.end())
      return {{}, cells_.front().at};
    const CsvCell& found = cells_[index->second];
    return {std::string(trimmed(found.text)), found.at};
  }
  [[nodiscard]] std::vector<Name> words(std::string_view column) const {
    const Name all = cell(column);
    std::vector<Name> out;
    std::size_t begin = 0;
    while ((begin = all.text.find_first_not_of(' ', begin)) != std::string::npos) {
      const std::size_t end = std::min(all.text.find(' ', begin), all.text.size());
      out.push_back({all.text.substr(begin, end - begin), all.at});
      begin = end;
    }
    return out;
  }
  [[nodiscard]] std::optional<bool> yes_or_no(std::string_view column) const {
    const Name value = cell(column);
    if (value.text.empty())
      return std::nullopt;
    if (value.text == "true" || value.text == "yes")
      return true;
    if (value.text != "false" && value.text != "no")
      diagnostics_.error(
          "wrong-type", value.at,
          fmt::format("`{}` must be true or false, not {}", column, in_backticks(value.text)));
    return false;
  }

 private:
  const Sheet& sheet_;
  const std::vector<CsvCell>& cells_;
  Diagnostics& diagnostics_;
};

std::vector<Address> addresses(const std::vector<Name>& words, Family family,
                               Diagnostics& diagnostics) {
  std::vector<Address> out;
  for (const Name& word : words)
    if (const auto address = address_field(word, family, diagnostics))
      out.push_back(*address);
  return out;
}

Nic read_nic(const Row& row, const Name& name, Diagnostics& diagnostics) {
  Nic nic;
  nic.name = name.text;
  nic.at = name.at;
  check_interface_name(name, diagnostics);
  nic.segment = row.cell("segment");
  if (nic.segment.text.empty())
    diagnostics.error("missing-value", nic.segment.at,
                      fmt::format("NIC {} sits in no segment", in_backticks(name.text)));
  nic.v4 = addresses(row.words("v4"), Family::V4, diagnostics);
  nic.v6 = addresses(row.words("v6"), Family::V6, diagnostics);
  if (const Name mac = row.cell("mac"); !mac.text.empty())
    nic.mac = mac_field(mac, diagnostics);
  if (const Name guid = row.cell("port_guid"); !guid.text.empty())
    nic.port_guid = guid_field(guid, diagnostics);
  nic.rdma = row.cell("rdma").text;
  nic.switch_name = row.cell("switch").text;
  nic.switch_port = row.cell("port").text;
  return nic;
}

// A host's own facts are repeated on each of its rows, or said on one of them.
void read_host_facts(const Row& row, Host& host, Diagnostics& diagnostics) {
  const auto conflict = [&](std::string_view column) {
    diagnostics.error("conflicting-rows", row.cell(column).at,
                      fmt::format("`{}` of host {} is something else in an earlier row", column,
                                  in_backticks(host.name)));
  };
  const auto set_text = [&](std::string_view column, std::string& field) {
    const Name value = row.cell(column);
    if (!value.text.empty() && !field.empty() && field != value.text)
      conflict(column);
    if (!value.text.empty())
      field = value.text;
  };
  set_text("ssh", host.ssh);
  set_text("stand_in", host.stand_in);
  if (const auto labels = sorted_labels(row.words("labels"), diagnostics); !labels.empty()) {
    if (!host.labels.empty() && host.labels != labels)
      conflict("labels");
    host.labels = labels;
  }
  if (const auto forwards = row.yes_or_no("forwards")) {
    if (host.forwards && host.forwards != forwards)
      conflict("forwards");
    host.forwards = forwards;
  }
  if (row.yes_or_no("agentless").value_or(false))
    host.agentless = true;
  const Name state = row.cell("state");
  if (state.text == "spare")
    host.spare = true;
  else if (!state.text.empty())
    diagnostics.error("bad-state", state.at, in_backticks(state.text) + " is not a state of a host",
                      "`spare`, or nothing");
}

}  // namespace

void read_hosts_csv(const Name& file, const InventorySource& source,
                    std::map<std::string, Host>& hosts) {
  const auto sheet =
      read_sheet(file, source,
                 {"host", "nic", "mac", "segment", "v4", "v6", "port_guid", "switch", "port",
                  "labels", "ssh", "state", "forwards", "agentless", "stand_in", "rdma"},
                 {"host", "nic", "segment"});
  if (!sheet)
    return;
  Diagnostics& diagnostics = source.diagnostics;
  for (const auto& cells : sheet->table.rows) {
    const Row row(*sheet, cells, diagnostics);
    const Name name = row.cell("host");
    if (!check_name("host", name, diagnostics))
      continue;
    Host& host = hosts[name.text];
    if (host.name.empty()) {
      host.name = name.text;
      host.at = name.at;
    }
    read_host_facts(row, host, diagnostics);
    const Name nic_name = row.cell("nic");
    if (nic_name.text.empty())
      continue;  // a row may speak of the host alone
    const auto same = std::find_if(host.nics.begin(), host.nics.end(),
                                   [&](const Nic& nic) { return nic.name == nic_name.text; });
    if (same != host.nics.end()) {
      diagnostics
          .error("duplicate-nic", nic_name.at,
                 fmt::format("host {} has NIC {} twice", in_backticks(name.text),
                             in_backticks(nic_name.text)))
          .related.push_back({same->at, "first here"});
      continue;
    }
    host.nics.push_back(read_nic(row, nic_name, diagnostics));
  }
}

std::optional<PortGuids> read_guids_csv(const Name& file, const InventorySource& source) {
  const std::vector<std::string_view> columns = {"host", "nic", "port_guid"};
  const auto sheet = read_sheet(file, source, columns, columns);
  if (!sheet)
    return std::nullopt;
  PortGuids out;
  for (const auto& cells : sheet->table.rows) {
    const Row row(*sheet, cells, source.diagnostics);
    const Name guid = row.cell("port_guid");
    const auto [entry, is_new] =
        out.try_emplace({row.cell("host").text, row.cell("nic").text}, guid);
    if (!is_new)
      source.diagnostics.error("duplicate-guid", guid.at, "a second GUID for the same host and NIC")
          .related.push_back({entry->second.at, "first here"});
  }
  return out;
}

}  // namespace bulkhead::compiler
