// The parts of parse_policy(), one for each kind of table. Each reads its tables from one file into
// the policy; none resolves a name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/model.h"
#include "policy/toml_reader.h"

namespace bulkhead::policy {

struct ParsedFile {
  Policy& policy;
  Diagnostics& diagnostics;
  std::string authority;  // tenant that the file was given to; empty: the root file
};

void parse_tenants(TomlTable& root, const ParsedFile& into);
void parse_vrfs(TomlTable& root, const ParsedFile& into);
void parse_segments(TomlTable& root, const ParsedFile& into);
void parse_externals(TomlTable& root, const ParsedFile& into);
void parse_partitions(TomlTable& root, const ParsedFile& into);
void parse_services(TomlTable& root, const ParsedFile& into);
void parse_flows(TomlTable& root, const ParsedFile& into);
void parse_offers(TomlTable& root, const ParsedFile& into);
void parse_nevers(TomlTable& root, const ParsedFile& into);

// Keys `v4` and `v6` as prefixes of that family.
// `places`, if wanted: where each of them stands.
[[nodiscard]] std::vector<Prefix> parse_prefixes(TomlTable& table, const ParsedFile& into,
                                                 std::vector<SourcePos>* places = nullptr);

// SEGMENT, SEGMENT.LABEL, tenant:NAME ... as written; plain names stay Unresolved. Reports a bad
// one and returns nullopt.
[[nodiscard]] std::optional<Selector> parse_selector(const Name& text, Diagnostics& diagnostics);
[[nodiscard]] std::vector<Selector> parse_selectors(const std::vector<Name>& texts,
                                                    Diagnostics& diagnostics);
// Ids of flows and nevers travel into nft comments, file names and cells of a spreadsheet.
bool check_id(const Name& id, Diagnostics& diagnostics);
// Names of places and services: identifier.h says which are good.
bool check_name(const Name& name, std::string_view kind, Diagnostics& diagnostics);

}  // namespace bulkhead::policy
