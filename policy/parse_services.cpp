// What may flow: named sets of transports. Ports never mix between protocols.
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "policy/parse_parts.h"
#include "policy/support/text.h"

namespace bulkhead::policy {

namespace {

std::optional<std::uint16_t> port_number(std::string_view text) {
  text = trimmed(text);
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1 || value > 65535)
    return std::nullopt;
  return static_cast<std::uint16_t>(value);
}

std::optional<PortRange> port_range(const TomlItem& item) {
  if (const auto* number = std::get_if<std::int64_t>(&item.value)) {
    if (*number < 1 || *number > 65535)
      return std::nullopt;
    const auto port = static_cast<std::uint16_t>(*number);
    return PortRange{port, port};
  }
  const std::string_view text = std::get<std::string>(item.value);
  const std::size_t dash = text.find('-');
  const auto first = port_number(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : port_number(text.substr(dash + 1));
  if (!first || !last || *last < *first)
    return std::nullopt;
  return PortRange{*first, *last};
}

std::string shown(const TomlItem& item) {
  const auto* number = std::get_if<std::int64_t>(&item.value);
  return number ? fmt::format("`{}`", *number) : in_backticks(std::get<std::string>(item.value));
}

PortSet parse_ports(TomlTable& table, std::string_view key, Diagnostics& diagnostics) {
  std::vector<PortRange> ranges;
  for (const TomlItem& item : table.items(key)) {
    if (const auto range = port_range(item)) {
      ranges.push_back(*range);
    } else {
      diagnostics.error("bad-port", item.at, fmt::format("{} is not a port", shown(item)),
                        "ports are 1 to 65535; a range is \"6800-7300\"");
    }
  }
  return PortSet::from(std::move(ranges));
}

PortSet parse_icmp(TomlTable& table, Diagnostics& diagnostics) {
  std::vector<std::string_view> known;
  for (const IcmpQuery& query : kIcmpQueries)
    known.push_back(query.name);
  PortSet rows;
  for (const Name& name : table.names("icmp")) {
    const auto found = std::find(known.begin(), known.end(), name.text);
    if (found != known.end()) {
      const auto row = static_cast<std::uint16_t>(found - known.begin());
      rows.add({row, row});
      continue;
    }
    std::string hint = did_you_mean(name.text, known);
    if (hint.empty())
      hint = fmt::format("queries are {}; ICMP errors of an allowed flow pass by themselves",
                         fmt::join(known, ", "));
    diagnostics.error("bad-icmp", name.at,
                      fmt::format("{} is not an ICMP query", in_backticks(name.text)),
                      std::move(hint));
  }
  return rows;
}

// Protocols whose ports or types have keys of their own: by number they would mean "all ports".
std::string_view own_key(std::int64_t protocol) {
  switch (protocol) {
    case 1:
    case 58:
      return "icmp";
    case 6:
      return "tcp";
    case 17:
      return "udp";
    case 132:
      return "sctp";
    default:
      return {};
  }
}

std::vector<std::optional<Address>> parse_groups(TomlTable& table, Diagnostics& diagnostics) {
  std::vector<std::optional<Address>> groups;
  for (const Name& text : table.names("to")) {
    if (const auto address = Address::parse(text.text)) {
      groups.emplace_back(*address);
    } else {
      diagnostics.error("bad-address", text.at,
                        fmt::format("{} is not an address", in_backticks(text.text)));
    }
  }
  if (groups.empty())
    groups.emplace_back(std::nullopt);
  return groups;
}

void parse_ip(TomlTable& table, std::vector<Traffic>& terms, Diagnostics& diagnostics) {
  const auto protocols = table.items("ip");
  const auto groups = parse_groups(table, diagnostics);
  if (table.has("to") && !table.has("ip"))
    diagnostics.error("group-without-ip", table.at("to"),
                      fmt::format("`to` of {} belongs to an `ip` protocol", table.what()),
                      "who receives is said by the flow");
  for (const TomlItem& item : protocols) {
    const auto* number = std::get_if<std::int64_t>(&item.value);
    if (!number || *number < 1 || *number > 254) {
      diagnostics.error("bad-protocol", item.at,
                        fmt::format("{} is not an IP protocol number", shown(item)),
                        "IANA numbers 1 to 254, such as 112 for VRRP");
      continue;
    }
    if (const auto key = own_key(*number); !key.empty()) {
      diagnostics.error("bad-protocol", item.at,
                        fmt::format("ip = {} would be all of {}", *number, key),
                        fmt::format("say which: `{} = [...]`", key));
      continue;
    }
    for (const auto& group : groups)
      terms.push_back({{Kind::Ip, static_cast<std::uint8_t>(*number), group}, {{0, 0}}});
  }
}

// "all protocols, port 22" is the classic that opens everything: the port is then ignored.
void refuse_portless_protocols(TomlTable& table, Diagnostics& diagnostics) {
  for (const std::string_view key : {"port", "ports", "any", "all", "proto", "protocol"}) {
    if (table.ignore(key))
      diagnostics.error(
          "port-without-protocol", table.key_at(key),
          fmt::format("`{}` of {}: a port belongs to one protocol", key, table.what()),
          "write tcp = [22], udp = [22], or both");
  }
}

void cut_roce_port(const TomlTable& table, PortSet& ports, Diagnostics& diagnostics) {
  if (!ports.contains(kRocePort))
    return;
  diagnostics.warning(
      "roce-port", table.at("udp"),
      fmt::format("UDP {} is RoCEv2 and is not part of `udp` of {}", kRocePort, table.what()),
      "say `roce = true`, which knows requests from answers");
  ports = ports - PortSet{{kRocePort, kRocePort}};
}

struct PortKey {
  std::string_view key;
  Kind kind;
};
constexpr PortKey kPortKeys[] = {{"tcp", Kind::Tcp}, {"udp", Kind::Udp}, {"sctp", Kind::Sctp}};
constexpr PortKey kFlagKeys[] = {
    {"dhcp", Kind::Dhcp}, {"roce", Kind::Roce}, {"ib", Kind::Ib}, {"gpudirect", Kind::GpuDirect}};

bool has_kind(const std::vector<Traffic>& terms, Kind kind) {
  return std::any_of(terms.begin(), terms.end(),
                     [&](const Traffic& term) { return term.key.kind == kind; });
}

std::vector<Traffic> parse_terms(TomlTable& table, Diagnostics& diagnostics) {
  std::vector<Traffic> terms;
  for (const auto& [key, kind] : kPortKeys) {
    PortSet ports = parse_ports(table, key, diagnostics);
    if (kind == Kind::Udp)
      cut_roce_port(table, ports, diagnostics);
    if (!ports.empty())
      terms.push_back({{kind, 0, std::nullopt}, std::move(ports)});
  }
  if (PortSet rows = parse_icmp(table, diagnostics); !rows.empty())
    terms.push_back({{Kind::Icmp, 0, std::nullopt}, std::move(rows)});
  parse_ip(table, terms, diagnostics);
  for (const auto& [key, kind] : kFlagKeys) {
    if (table.boolean(key).value_or(false))
      terms.push_back({{kind, 0, std::nullopt}, {{0, 0}}});
  }
  // Whichever fabric carries it, it is the same flow: between segments that is RoCE.
  if (has_kind(terms, Kind::GpuDirect) && has_kind(terms, Kind::Ib))
    terms.push_back({{Kind::Roce, 0, std::nullopt}, {{0, 0}}});
  std::sort(terms.begin(), terms.end());
  terms.erase(std::unique(terms.begin(), terms.end()), terms.end());
  return terms;
}

}  // namespace

void parse_services(TomlTable& root, const ParsedFile& into) {
  for (auto& [name, table] : root.named_tables("service")) {
    const std::size_t errors_before = into.diagnostics.error_count();
    Service service{name.text, parse_terms(table, into.diagnostics), into.authority, name.at};
    refuse_portless_protocols(table, into.diagnostics);
    table.finish();
    if (has_kind(service.terms, Kind::GpuDirect) && !has_kind(service.terms, Kind::Ib) &&
        !has_kind(service.terms, Kind::Roce))
      into.diagnostics.error(
          "gpudirect-alone", name.at,
          fmt::format("{} proves a fabric flow in GPU memory, but names none", table.what()),
          "add `ib = true` or `roce = true`");
    if (service.terms.empty() && into.diagnostics.error_count() == errors_before)
      into.diagnostics.error("empty-service", name.at,
                             fmt::format("{} names no traffic", table.what()));
    if (!check_name(name, "service", into.diagnostics))
      continue;
    const auto [found, added] = into.policy.services.try_emplace(name.text, service);
    if (!added)
      into.diagnostics
          .error("duplicate-name", name.at,
                 fmt::format("service {} is defined twice", in_backticks(name.text)))
          .related.push_back({found->second.at, "first defined here"});
  }
}

}  // namespace bulkhead::policy
