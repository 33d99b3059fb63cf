// Files that decide what a system does: read whole, or written so that neither a crash nor a full
// disk leaves half of one.
#pragma once

#include <filesystem>
#include <string>

#include "policy/support/result.h"

namespace bulkhead::enforcement {

// Regular files only. Environment error, with the path.
[[nodiscard]] Result<std::string> read_whole(const std::filesystem::path& path);

// Beside its path first, to the disk, renamed, and the folder to the disk too: after a return
// without error the new content survives a power cut, after an error the old one is there. Mode
// 0600.
[[nodiscard]] Status write_whole(const std::filesystem::path& path, const std::string& text);

}  // namespace bulkhead::enforcement
