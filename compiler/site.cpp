#include "compiler/site.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/site_files.h"
#include "policy/date.h"
#include "policy/parse.h"
#include "policy/support/sha256.h"
#include "policy/validate.h"

namespace bulkhead::compiler {
namespace {

// Of a file that could not be read as a whole nothing is known: every name that it defines would be
// reported as missing, and hide the one mistake that matters. Nor is a site looked into that is
// too large for it.
bool all_files_are_read(const Diagnostics& diagnostics) {
  constexpr std::string_view kUnread[] = {
      "toml-syntax",       "cannot-read",         "file-too-large",   "not-utf8",
      "nested-too-deeply", "inventory-too-large", "too-many-segments"};
  return std::none_of(diagnostics.all().begin(), diagnostics.all().end(), [&](const auto& found) {
    return std::find(std::begin(kUnread), std::end(kUnread), found.code) != std::end(kUnread);
  });
}

// Over every file that was read, by name, and the date: same digest, same artifacts.
std::string digest(const SourceMap& sources, policy::Date as_of) {
  std::string lines = "as_of " + policy::format_date(as_of) + "\n";
  for (std::uint32_t file = 0; file < sources.size(); ++file)
    lines += sha256_hex(sources.file(file).text) + " " + std::to_string(file) + "\n";
  return "sha256:" + sha256_hex(lines);
}

policy::InventoryNames names_of(const Inventory& inventory) {
  policy::InventoryNames names;
  for (const auto& [name, enforcer] : inventory.enforcers)
    names.enforcers.push_back(name);
  for (const auto& [name, host] : inventory.hosts)
    if (!host.nics.empty())
      names.segment_of_host.emplace(name, host.nics.front().segment.text);
  return names;
}

Site load(const policy::FileReader& read, const std::string& display_prefix, policy::Date as_of) {
  Site site;
  Diagnostics& diagnostics = site.diagnostics;
  site.matrix.as_of = as_of;
  site.policy = policy::parse_policy(read, display_prefix, site.sources, diagnostics);
  site.inventory = parse_inventory(read, display_prefix, site.sources, diagnostics);
  site.policy_digest = digest(site.sources, as_of);

  if (site.policy.segments.size() > kMostClasses)
    diagnostics.error("too-many-segments", {},
                      fmt::format("{} segments; at most {} are possible",
                                  site.policy.segments.size(), kMostClasses));
  if (!all_files_are_read(diagnostics)) {
    diagnostics.sort();
    return site;
  }
  policy::validate_names(site.policy, names_of(site.inventory), diagnostics);
  validate_inventory(site.inventory, site.policy, diagnostics);
  policy::Universe universe = make_universe(site.policy, site.inventory);
  if (universe.classes.size() > kMostClasses) {
    diagnostics.error(
        "too-many-classes", {},
        fmt::format("{} classes; at most {} are possible", universe.classes.size(), kMostClasses),
        "a class is a segment and a set of labels: hosts that are treated alike need "
        "the same labels");
    diagnostics.sort();
    return site;
  }
  policy::validate_flows(site.policy, universe, as_of, diagnostics);
  site.matrix = policy::derive(site.policy, universe, as_of);
  site.coverage = derive_coverage(site.policy, site.inventory, site.matrix, diagnostics);
  diagnostics.sort();
  return site;
}

// Names in messages are what the user would type: the folder as given, then the file in it.
std::string display_prefix(const std::filesystem::path& folder) {
  std::string prefix = folder.generic_string();
  if (prefix == ".")
    prefix.clear();
  else if (!prefix.empty() && prefix.back() != '/')
    prefix += '/';
  return prefix;
}

// Why there is no site in `folder`, told once rather than of each file that should be in it.
void check_folder(const std::filesystem::path& folder, Site& site) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  std::string message;
  std::string hint;
  if (status.type() == fs::file_type::not_found) {
    message = "there is no such folder";
  } else if (error) {
    message = "cannot open it: " + error.message();
  } else if (!fs::is_directory(status)) {
    message = "this is no folder";
    const fs::path parent = folder.parent_path();
    hint = fmt::format("a site is a folder with policy.toml and inventory.toml: {}",
                       parent.empty() ? "." : parent.generic_string());
  } else if (!fs::exists(folder / "policy.toml", error) &&
             !fs::exists(folder / "inventory.toml", error) && !error) {
    message = "there is no site in this folder";
    hint = "a site is a folder with policy.toml and inventory.toml";
  }
  if (!message.empty())
    site.diagnostics.error("no-site", {site.sources.add(folder.generic_string(), {}), 0, 0},
                           std::move(message), std::move(hint));
}

}  // namespace

std::map<std::string, std::string> files_of(const Site& site) {
  const std::size_t prefix = display_prefix(site.folder).size();
  std::map<std::string, std::string> out;
  for (std::uint32_t file = 0; file < site.sources.size(); ++file)
    out.emplace(site.sources.file(file).name.substr(prefix), site.sources.file(file).text);
  return out;
}

Site load_site(const std::filesystem::path& folder, policy::Date as_of) {
  Site site;
  check_folder(folder, site);
  if (site.ok())
    site = load(policy::folder_reader(folder), display_prefix(folder), as_of);
  site.folder = folder;
  return site;
}

Site load_site(const policy::FileReader& read, policy::Date as_of) {
  return load(read, "", as_of);
}

}  // namespace bulkhead::compiler
