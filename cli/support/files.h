// Answers that go to files. A reader of the path sees the old content or the new, never half, and
// after a failure the old: everything is written beside it first and then renamed.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "policy/support/result.h"

namespace bulkhead::cli {

// "DIR/NAME" -> "DIR/.NAME.XXXXXX", on the same file system, so that rename(2) is atomic.
[[nodiscard]] std::string scratch_template(std::filesystem::path path);
// `all` without what the umask takes.
[[nodiscard]] mode_t default_mode(mode_t all);

Status write_file(const std::filesystem::path& path, const std::string& text);

// `folder` becomes exactly these files. An existing folder is only replaced where all it holds
// was named by the manifest.json in it, that is, was written by us; else a usage error and
// nothing changes.
Status write_folder(const std::filesystem::path& folder,
                    const std::vector<compiler::Artifact>& files);

[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path);

}  // namespace bulkhead::cli
