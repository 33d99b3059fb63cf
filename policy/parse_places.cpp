// Where endpoints sit: tenants, VRFs, segments, externals, InfiniBand partitions.
#include <algorithm>

#include <fmt/format.h>

#include "policy/identifier.h"
#include "policy/parse_parts.h"
#include "policy/support/text.h"

namespace bulkhead::policy {

namespace {

// Emplaces under its name, or reports that the name is taken, with the first place.
template <class T>
void add_named(std::map<std::string, T>& into, T value, std::string_view kind,
               Diagnostics& diagnostics) {
  const auto [found, added] = into.try_emplace(value.name, value);
  if (added)
    return;
  diagnostics
      .error("duplicate-name", value.at,
             fmt::format("{} {} is defined twice", kind, in_backticks(value.name)))
      .related.push_back({found->second.at, "first defined here"});
}

// One of two words.
std::optional<bool> one_of(const std::optional<Name>& value, std::string_view key,
                           std::string_view yes, std::string_view no, Diagnostics& diagnostics) {
  if (!value)
    return std::nullopt;
  if (value->text == yes || value->text == no)
    return value->text == yes;
  diagnostics.error(
      "bad-value", value->at,
      fmt::format("`{}` must be \"{}\" or \"{}\", not {}", key, yes, no, in_backticks(value->text)),
      did_you_mean(value->text, {yes, no}));
  return std::nullopt;
}

bool is_mapped(const Prefix& prefix) {
  static const Prefix kMapped = *Prefix::parse("::ffff:0:0/96");
  return prefix.family() == Family::V6 && kMapped.overlaps(prefix) && prefix.length >= 96;
}

// Addresses that no endpoint can have: a segment of them is a slip.
std::string_view unusable(const Prefix& prefix) {
  if (is_mapped(prefix))
    return "is an IPv4 address written as IPv6";
  if (prefix.base.is_multicast())
    return "is multicast";
  if (prefix.base.is_loopback())
    return "is loopback";
  if (prefix.base.is_link_local())
    return "is link-local";
  return {};
}

// "10.20.2.0" where a prefix is wanted: nobody knows whether one address is meant or a network.
Prefix told_without_length(const Name& text, const Address& address, Diagnostics& diagnostics) {
  const bool is_v4 = address.family == Family::V4;
  const std::string one = fmt::format("{}/{}", text.text, is_v4 ? 32 : 128);
  const std::string network = fmt::format("{}/{}", text.text, is_v4 ? 24 : 64);
  const auto guessed = Prefix::parse(network);  // fails where it has host bits
  diagnostics.error("bad-prefix", text.at,
                    fmt::format("{} has no prefix length", in_backticks(text.text)),
                    guessed ? fmt::format("write `{}`, or `{}` for one address", network, one)
                            : fmt::format("write `{}` for one address", one));
  return guessed ? *guessed : *Prefix::parse(one);  // good enough to go on
}

std::optional<Prefix> parse_prefix(const Name& text, Family family, Diagnostics& diagnostics) {
  Prefix::Flaw flaw = Prefix::Flaw::None;
  Prefix corrected;
  const auto prefix = Prefix::parse(text.text, &flaw, &corrected);
  if (flaw == Prefix::Flaw::HostBits) {
    diagnostics.error("host-bits", text.at,
                      fmt::format("{} has host bits set; it would cover all of {}",
                                  in_backticks(text.text), corrected.str()),
                      fmt::format("write `{}`, or `{}` for one address", corrected.str(),
                                  text.text.substr(0, text.text.find('/')) +
                                      (family == Family::V4 ? "/32" : "/128")));
    return corrected;  // good enough to go on: what lies in it is no second mistake
  }
  if (!prefix) {
    diagnostics.error("bad-prefix", text.at,
                      fmt::format("{} is not a prefix", in_backticks(text.text)),
                      family == Family::V4 ? "write it as 10.1.0.0/22" : "write it as fd00:1::/64");
    return std::nullopt;
  }
  if (prefix->family() != family) {
    diagnostics.error(
        "wrong-family", text.at,
        fmt::format("{} is not an IP{} prefix", in_backticks(text.text), to_string(family)),
        fmt::format("write it under `{}`", to_string(prefix->family())));
    return std::nullopt;
  }
  if (const auto why = unusable(*prefix); !why.empty()) {
    diagnostics.error(
        "bad-prefix", text.at,
        fmt::format("{} {}: no endpoint has such an address", in_backticks(text.text), why));
    return std::nullopt;
  }
  if (text.text.find('/') == std::string::npos)
    return told_without_length(text, prefix->base, diagnostics);
  return prefix;
}

void require_addresses(const TomlTable& table, Diagnostics& diagnostics) {
  const auto says = [&](std::string_view key) {
    return table.has(key) && !table.is_empty_array(key);
  };
  if (!says("v4") && !says("v6"))
    diagnostics.error("missing-key", table.at(),
                      fmt::format("{} needs `v4`, `v6` or both", table.what()));
}

}  // namespace

bool check_name(const Name& name, std::string_view kind, Diagnostics& diagnostics) {
  if (!is_good_name(name.text)) {
    diagnostics.error("bad-name", name.at,
                      fmt::format("{} is not a name for a {}", in_backticks(name.text), kind),
                      "a letter or digit, then letters, digits, - and _, at most 63");
    return false;
  }
  if (is_reserved_name(name.text)) {
    diagnostics.error("reserved-name", name.at,
                      fmt::format("{} is a word of the language, not a name for a {}",
                                  in_backticks(name.text), kind));
    return false;
  }
  return true;
}

std::vector<Prefix> parse_prefixes(TomlTable& table, const ParsedFile& into,
                                   std::vector<SourcePos>* places) {
  std::vector<Prefix> out;
  for (const Family family : kFamilies) {
    for (const Name& text : table.names(to_string(family))) {
      const auto prefix = parse_prefix(text, family, into.diagnostics);
      if (!prefix)
        continue;
      out.push_back(*prefix);
      if (places != nullptr)
        places->push_back(text.at);
    }
  }
  return out;
}

void parse_tenants(TomlTable& root, const ParsedFile& into) {
  for (auto& [name, table] : root.named_tables("tenant")) {
    Tenant tenant{name.text, table.text("owner"), name.at};
    table.finish();
    if (!check_name(name, "tenant", into.diagnostics))
      continue;
    if (!into.authority.empty() && tenant.name != into.authority) {
      into.diagnostics.error("not-yours", name.at,
                             fmt::format("the file of tenant {} defines tenant {}",
                                         in_backticks(into.authority), in_backticks(name.text)));
      continue;
    }
    add_named(into.policy.tenants, std::move(tenant), "tenant", into.diagnostics);
  }
}

void parse_vrfs(TomlTable& root, const ParsedFile& into) {
  constexpr std::int64_t kLargestTable = 0xffffffff;  // rtnetlink's RTA_TABLE is 32 bits
  constexpr std::int64_t kLargestVni = 0xffffff;      // RFC 7348
  for (auto& [name, table] : root.named_tables("vrf")) {
    Vrf vrf;
    vrf.name = name.text;
    vrf.at = name.at;
    if (table.require("table"))
      vrf.table = static_cast<std::uint32_t>(table.integer("table", 1, kLargestTable).value_or(0));
    if (const auto vni = table.integer("vni", 1, kLargestVni))
      vrf.vni = static_cast<std::uint32_t>(*vni);
    for (TomlTable& entry : table.tables("leaks")) {
      VrfLeak leak;
      leak.at = entry.at();
      leak.prefixes = parse_prefixes(entry, into);
      const auto target = entry.require("vrf") ? entry.name("vrf") : std::nullopt;
      entry.finish();
      if (!target)
        continue;
      leak.vrf = *target;
      vrf.leaks.push_back(std::move(leak));
    }
    table.finish();
    if (check_name(name, "vrf", into.diagnostics))
      add_named(into.policy.vrfs, std::move(vrf), "vrf", into.diagnostics);
  }
}

void parse_segments(TomlTable& root, const ParsedFile& into) {
  for (auto& [name, table] : root.named_tables("segment")) {
    Segment segment;
    segment.name = name.text;
    segment.at = name.at;
    if (table.require("tenant"))
      segment.tenant = table.name("tenant").value_or(Name{{}, name.at});
    if (const auto vlan = table.integer("vlan", 1, 4094))
      segment.vlan = static_cast<std::uint16_t>(*vlan);
    segment.vrf = table.name("vrf");
    segment.ib_partition = table.name("ib_partition");
    segment.prefixes = parse_prefixes(table, into, &segment.prefixes_at);
    require_addresses(table, into.diagnostics);
    segment.gateway = table.name("gateway");
    segment.behind = table.name("behind");
    const auto inside = table.name("inside");
    if (table.has("inside")) {
      const auto open = one_of(inside, "inside", "open", "isolated", into.diagnostics);
      // A wrong word has been reported; the missing-inside error must not follow.
      segment.inside = open.value_or(true) ? Inside::Open : Inside::Isolated;
    }
    segment.isolated_by = table.name("isolated_by");
    table.finish();
    if (check_name(name, "segment", into.diagnostics))
      add_named(into.policy.segments, std::move(segment), "segment", into.diagnostics);
  }
}

void parse_externals(TomlTable& root, const ParsedFile& into) {
  for (auto& [name, table] : root.named_tables("external")) {
    External external;
    external.name = name.text;
    external.at = name.at;
    require_addresses(table, into.diagnostics);
    for (const Family family : kFamilies) {
      const auto texts = table.names(to_string(family));
      if (texts.size() == 1 && texts[0].text == "rest") {
        (family == Family::V4 ? external.rest_v4 : external.rest_v6) = true;
        continue;
      }
      for (const Name& text : texts) {
        if (const auto prefix = parse_prefix(text, family, into.diagnostics))
          external.prefixes.push_back(*prefix);
      }
    }
    table.finish();
    if (check_name(name, "external", into.diagnostics))
      add_named(into.policy.externals, std::move(external), "external", into.diagnostics);
  }
}

void parse_partitions(TomlTable& root, const ParsedFile& into) {
  // The top bit says full or limited member and is not part of the key (IBTA 10.9.1.1); 0 lets the
  // subnet manager choose, 0x7fff is the default partition.
  constexpr std::int64_t kKeyBits = 0x7fff;
  for (auto& [name, table] : root.named_tables("ib_partition")) {
    IbPartition partition;
    partition.name = name.text;
    partition.at = name.at;
    if (table.require("tenant"))
      partition.tenant = table.name("tenant").value_or(Name{{}, name.at});
    if (const auto written = table.integer("pkey", 0, 0xffff)) {
      const std::int64_t key = *written & kKeyBits;
      if (key == 0 || key == kKeyBits) {
        into.diagnostics.error("bad-pkey", table.at("pkey"),
                               key == 0 ? "key 0 lets the subnet manager choose one"
                                        : "key 0x7fff is the default partition, which every port "
                                          "is a member of",
                               "leave `pkey` out to have one assigned and recorded");
      } else {
        if (*written != key)
          into.diagnostics.warning(
              "pkey-top-bit", table.at("pkey"),
              fmt::format("only 15 bits of a key count: 0x{:04x} is 0x{:04x}", *written, key));
        partition.pkey = static_cast<std::uint16_t>(key);
      }
    }
    table.finish();
    if (check_name(name, "partition", into.diagnostics))
      add_named(into.policy.partitions, std::move(partition), "partition", into.diagnostics);
  }
}

}  // namespace bulkhead::policy
