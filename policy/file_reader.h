// The files of one site, and nothing else on the machine: every file that policy.toml or
// inventory.toml names is read through a FileReader by its path relative to the site's folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "policy/support/diagnostic.h"
#include "policy/support/result.h"
#include "policy/support/source.h"

namespace bulkhead::policy {

inline constexpr std::size_t kLargestFile = std::size_t{16} << 20;

// Reads a file by its path relative to the site folder. A fake serves tests and the fuzzer.
using FileReader = std::function<Result<std::string>(const std::string& relative_path)>;

// Regular files inside the folder, of which no more is read than shows that they are larger than
// kLargestFile; symbolic links that lead out of it are refused. The folder need not exist: then
// every read fails.
[[nodiscard]] FileReader folder_reader(std::filesystem::path site_folder);
// Files from memory.
[[nodiscard]] FileReader memory_reader(std::map<std::string, std::string> files);

// Why a path written by a user cannot be a file of the site: "is absolute", "leads out of the
// site's folder"; empty if it can.
[[nodiscard]] std::string_view flaw_of_path(std::string_view path);

// Reads a text into `sources` under `display_prefix` + path, without its byte-order mark. What is
// wrong (cannot be read, too large, UTF-16, not UTF-8) becomes a diagnostic at `named_at`, or in
// the file itself where `named_at` has no line.
[[nodiscard]] std::optional<std::uint32_t> read_source(const FileReader& read,
                                                       const std::string& path,
                                                       const std::string& display_prefix,
                                                       SourcePos named_at, SourceMap& sources,
                                                       Diagnostics& diagnostics);

}  // namespace bulkhead::policy
