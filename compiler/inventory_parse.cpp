#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "compiler/foreign.h"
#include "compiler/inventory.h"
#include "compiler/inventory_csv.h"
#include "compiler/inventory_fields.h"
#include "compiler/inventory_hosts.h"
#include "policy/support/hostlist.h"
#include "policy/support/text.h"
#include "policy/toml_reader.h"

namespace bulkhead::compiler {
namespace {

using policy::TomlTable;

template <class T>
struct Word {
  std::string_view text;
  T value;
};
constexpr Word<EnforcerKind> kEnforcerKinds[] = {{"router", EnforcerKind::Router},
                                                 {"bridge", EnforcerKind::Bridge},
                                                 {"switch", EnforcerKind::Switch},
                                                 {"ib", EnforcerKind::Ib}};
constexpr Word<Manage> kManages[] = {{"bulkhead", Manage::Bulkhead},
                                     {"declared", Manage::Declared}};
constexpr std::string_view kSeparations[] = {"vlan", "vrf", "port"};
constexpr std::string_view kManagers[] = {"opensm", "ufm"};

void not_one_of(const Name& wrong, const std::vector<std::string_view>& right,
                Diagnostics& diagnostics) {
  diagnostics.error(
      "bad-value", wrong.at,
      fmt::format("{} must be one of {}", in_backticks(wrong.text), fmt::join(right, ", ")),
      did_you_mean(wrong.text, right));
}

template <class T, std::size_t N>
T one_of(const std::optional<Name>& word, const Word<T> (&table)[N], T otherwise,
         Diagnostics& diagnostics) {
  if (!word)
    return otherwise;
  std::vector<std::string_view> known;
  for (const auto& row : table) {
    if (row.text == word->text)
      return row.value;
    known.push_back(row.text);
  }
  not_one_of(*word, known, diagnostics);
  return otherwise;
}

template <std::size_t N>
bool check_one_of(const Name& word, const std::string_view (&table)[N], Diagnostics& diagnostics) {
  if (std::find(std::begin(table), std::end(table), word.text) != std::end(table))
    return true;
  not_one_of(word, {std::begin(table), std::end(table)}, diagnostics);
  return false;
}

std::vector<Name> expanded(const std::vector<Name>& hostlists, Diagnostics& diagnostics) {
  std::vector<Name> out;
  for (const Name& hostlist : hostlists) {
    auto names = expand_hostlist(hostlist.text);
    if (!names) {
      diagnostics.error("bad-hostlist", hostlist.at, names.error().message);
      continue;
    }
    for (std::string& name : *names)
      out.push_back({std::move(name), hostlist.at});
  }
  return out;
}

Leg read_leg(const Name& name, TomlTable& table, Diagnostics& diagnostics) {
  Leg leg;
  leg.interface = name.text;
  leg.at = name.at;
  check_interface_name(name, diagnostics);
  leg.segment = table.name("segment");
  leg.external = table.name("external");
  leg.vrf = table.name("vrf");
  leg.behind = table.names("behind");
  if (const auto text = table.name("v4"))
    leg.v4 = leg_address_field(*text, Family::V4, diagnostics);
  if (const auto text = table.name("v6"))
    leg.v6 = leg_address_field(*text, Family::V6, diagnostics);
  table.finish();
  if (leg.segment && leg.external)
    diagnostics.error(
        "leg-target", leg.at,
        fmt::format("leg {} leads to a segment and to an external", in_backticks(leg.interface)),
        "one interface, one side");
  else if (!leg.segment && !leg.external && leg.behind.empty())
    diagnostics.error("leg-target", leg.at,
                      fmt::format("leg {} leads nowhere", in_backticks(leg.interface)),
                      "say `segment`, `external` or `behind`");
  return leg;
}

std::optional<AcceptSilence> read_accept_silence(TomlTable& enforcer) {
  auto table = enforcer.table("accept_silence");
  if (!table)
    return std::nullopt;
  AcceptSilence out;
  out.at = table->at();
  for (const std::string_view key : {"why", "owner", "expires"})
    table->require(key);
  out.why = table->text("why");
  out.owner = table->text("owner");
  out.expires = table->date("expires");
  table->finish();
  return out;
}

Enforcer read_enforcer(const Name& name, TomlTable& table, const InventorySource& source) {
  Diagnostics& diagnostics = source.diagnostics;
  Enforcer out;
  out.name = name.text;
  out.at = name.at;
  check_name("enforcer", name, diagnostics);
  table.require("kind");
  // An enforcer of unknown kind is taken for the one that asks for nothing more, so that its
  // mistake is told once.
  const std::size_t errors_before = diagnostics.error_count();
  const EnforcerKind unknown = table.has("legs") ? EnforcerKind::Router : EnforcerKind::Switch;
  out.kind = one_of(table.name("kind"), kEnforcerKinds, unknown, diagnostics);
  const bool is_known = diagnostics.error_count() == errors_before;
  const bool ours = out.kind == EnforcerKind::Router || out.kind == EnforcerKind::Bridge ||
                    out.kind == EnforcerKind::Ib;
  out.manage = one_of(table.name("manage"), kManages, ours ? Manage::Bulkhead : Manage::Declared,
                      diagnostics);
  if (!is_known && out.kind == EnforcerKind::Switch)
    out.manage = Manage::Declared;
  for (const Name& member : expanded(table.names("members"), diagnostics))
    if (check_name("member", member, diagnostics))
      out.members.push_back(member.text);
  if (out.members.empty())
    out.members.push_back(out.name);
  out.sync = table.text("sync");
  out.foreign = table.names("foreign");
  for (const Name& name_of_file : out.foreign)  // read for its place in the digest
    if (const auto file = policy::read_source(source.read, name_of_file.text, source.display_prefix,
                                              name_of_file.at, source.sources, diagnostics))
      check_foreign(*file, source.sources, diagnostics);
  for (const Name& separation : table.names("separates"))
    if (check_one_of(separation, kSeparations, diagnostics))
      out.separates.push_back(separation.text);
    else  // whatever was meant, that it is missing must not be told a second time
      out.separates.assign(std::begin(kSeparations), std::end(kSeparations));
  out.accept_silence = read_accept_silence(table);
  for (auto& [leg_name, leg] : table.named_tables("legs"))
    out.legs.push_back(read_leg(leg_name, leg, diagnostics));
  std::sort(out.legs.begin(), out.legs.end(),
            [](const Leg& a, const Leg& b) { return a.interface < b.interface; });
  out.ssh = table.text("ssh");
  if (const auto manager = table.name("manager"))
    if (check_one_of(*manager, kManagers, diagnostics))
      out.manager = manager->text;
  for (const Name& sm : expanded(table.names("sm"), diagnostics))
    out.sm.push_back(sm.text);
  out.m_key_file = table.text("m_key_file");
  table.finish();
  return out;
}

void read_canary_ports(TomlTable& table, ProbeSettings& probe, Diagnostics& diagnostics) {
  for (const policy::TomlItem& item : table.items("canary_ports")) {
    std::int64_t port = 0;
    if (const auto* number = std::get_if<std::int64_t>(&item.value)) {
      port = *number;
    } else {
      const std::string& text = std::get<std::string>(item.value);
      std::from_chars(text.data(), text.data() + text.size(), port);
    }
    if (port < 1 || port > 65535)
      diagnostics.error("out-of-range", item.at, "a canary port is a number from 1 to 65535");
    else
      probe.canary_ports.push_back(static_cast<std::uint16_t>(port));
  }
  if (!table.has("canary_ports"))
    probe.canary_ports.assign(std::begin(kCanaryPorts), std::end(kCanaryPorts));
  std::sort(probe.canary_ports.begin(), probe.canary_ports.end());
  probe.canary_ports.erase(std::unique(probe.canary_ports.begin(), probe.canary_ports.end()),
                           probe.canary_ports.end());
}

ProbeSettings read_probe(TomlTable table, Diagnostics& diagnostics) {
  ProbeSettings probe;
  if (const auto pps = table.integer("max_pps", 1, 1000000))
    probe.max_pps = static_cast<std::uint32_t>(*pps);
  for (const Name& text : expanded(table.names("never"), diagnostics)) {
    if (const auto address = Address::parse(text.text)) {
      probe.never.push_back(*address);
      probe.never_at.push_back(text.at);
    } else {
      diagnostics.error("bad-address", text.at, in_backticks(text.text) + " is not an address");
    }
  }
  read_canary_ports(table, probe, diagnostics);
  if (const auto percent = table.integer("min_coverage", 0, 100))
    probe.min_coverage = static_cast<std::uint32_t>(*percent);
  table.finish();
  return probe;
}

}  // namespace

Inventory parse_inventory(const policy::FileReader& read, const std::string& display_prefix,
                          SourceMap& sources, Diagnostics& diagnostics) {
  const InventorySource source{read, display_prefix, sources, diagnostics};
  Inventory inventory;
  inventory.probe.canary_ports.assign(std::begin(kCanaryPorts), std::end(kCanaryPorts));
  const auto document =
      policy::TomlDocument::read(read, "inventory.toml", display_prefix, {}, sources, diagnostics);
  if (!document)
    return inventory;
  TomlTable root = document->root();
  for (auto& [name, table] : root.named_tables("enforcer"))
    inventory.enforcers.emplace(name.text, read_enforcer(name, table, source));
  for (const Name& file : root.names("hosts"))
    read_hosts_csv(file, source, inventory.hosts);
  read_host_tables(root, source, inventory.hosts);
  if (auto probe = root.table("probe"))
    inventory.probe = read_probe(std::move(*probe), diagnostics);
  root.finish();
  for (auto& [name, host] : inventory.hosts)
    if (host.ssh.empty())
      host.ssh = name;
  return inventory;
}

}  // namespace bulkhead::compiler
