#include "policy/parse.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "policy/parse_parts.h"
#include "policy/support/text.h"
#include "policy/toml_reader.h"

namespace bulkhead::policy {

namespace {

constexpr std::string_view kRootFile = "policy.toml";
constexpr std::size_t kMostIncludes = 256;

// Every table of the language, and whether a tenant's include may have it.
struct Section {
  std::string_view key;
  void (*parse)(TomlTable& root, const ParsedFile& into);
  bool in_includes;
};
constexpr Section kSections[] = {
    {"tenant", parse_tenants, true},
    {"vrf", parse_vrfs, false},
    {"segment", parse_segments, false},
    {"external", parse_externals, false},
    {"ib_partition", parse_partitions, false},
    {"service", parse_services, true},
    {"offer", parse_offers, true},
    {"never", parse_nevers, false},
    {"flow", parse_flows, true},
};

// Returns the tenants whose files may not be read.
std::vector<Name> parse_include_list(TomlTable& root, const ParsedFile& into) {
  std::vector<Name> refused;
  std::vector<std::string> seen{std::string(kRootFile)};
  for (TomlTable& entry : root.tables("include")) {
    const auto file = entry.require("file") ? entry.name("file") : std::nullopt;
    const auto tenant = entry.require("tenant") ? entry.name("tenant") : std::nullopt;
    entry.finish();
    if (!file || !tenant)
      continue;
    if (const auto flaw = flaw_of_path(file->text); !flaw.empty()) {
      into.diagnostics.error("bad-path", file->at,
                             fmt::format("include {} {}", in_backticks(file->text), flaw));
      refused.push_back(*tenant);
      continue;
    }
    const std::string path = std::filesystem::path(file->text).lexically_normal().string();
    if (path == kRootFile) {
      into.diagnostics.error("include-cycle", file->at, "policy.toml includes itself");
    } else if (std::find(seen.begin(), seen.end(), path) != seen.end()) {
      into.diagnostics.error("duplicate-include", file->at,
                             fmt::format("{} is included twice", in_backticks(path)));
    } else if (seen.size() > kMostIncludes) {
      into.diagnostics.error("too-many-includes", file->at,
                             fmt::format("more than {} includes", kMostIncludes));
      return refused;
    } else {
      seen.push_back(path);
      into.policy.includes.push_back({path, *tenant, file->at});
    }
  }
  return refused;
}

void parse_root(TomlTable root, const ParsedFile& into) {
  if (root.require("name")) {
    if (const auto name = root.name("name"); name && check_name(*name, "site", into.diagnostics))
      into.policy.name = name->text;
  }
  const std::vector<Name> refused = parse_include_list(root, into);
  for (const Section& section : kSections)
    section.parse(root, into);
  // The file that may not be read would have defined its tenant: that nobody else does is no second
  // mistake.
  for (const Name& tenant : refused)
    into.policy.tenants.try_emplace(tenant.text, Tenant{tenant.text, {}, tenant.at});
  root.finish();
}

// What only the root file may say is refused with both places: this key, and the line that gave the
// file to a tenant.
void parse_included(TomlTable root, const Include& include, const ParsedFile& into) {
  const auto refuse = [&](std::string_view key, std::string message) {
    auto& error = into.diagnostics.error("not-yours", root.key_at(key), std::move(message));
    error.related.push_back({include.at, fmt::format("the file is given to tenant {} here",
                                                     in_backticks(include.tenant.text))});
  };
  for (const Section& section : kSections) {
    if (section.in_includes) {
      section.parse(root, into);
    } else if (root.ignore(section.key)) {
      refuse(section.key, fmt::format("only the root file may define [{}]", section.key));
    }
  }
  if (root.ignore("include"))
    refuse("include", "only the root file may include others");
  if (root.ignore("name"))
    refuse("name", "only the root file names the site");
  root.finish();
}

}  // namespace

Policy parse_policy(const FileReader& read, const std::string& display_prefix, SourceMap& sources,
                    Diagnostics& diagnostics) {
  Policy policy;
  const auto root =
      TomlDocument::read(read, std::string(kRootFile), display_prefix, {}, sources, diagnostics);
  if (!root)
    return policy;
  parse_root(root->root(), {policy, diagnostics, {}});
  for (const Include& include : policy.includes) {
    const auto document =
        TomlDocument::read(read, include.file, display_prefix, include.at, sources, diagnostics);
    if (document)
      parse_included(document->root(), include, {policy, diagnostics, include.tenant.text});
  }
  return policy;
}

}  // namespace bulkhead::policy
