// policy.toml and its includes -> Policy. Syntax, types, unknown keys and the shape of each value
// are decided here; what names mean, in validate.h. Nothing outside the site's folder is read: an
// include is a relative path inside it, files are at most 16 MiB, includes at most 256 and never
// cyclic.
#pragma once

#include <string>

#include "policy/file_reader.h"
#include "policy/model.h"
#include "policy/support/diagnostic.h"

namespace bulkhead::policy {

// Texts go into `sources` under `display_prefix` + relative path. With errors in `diagnostics` the
// returned policy holds what could be read, good enough to go on finding mistakes, never to
// compile.
[[nodiscard]] Policy parse_policy(const FileReader& read, const std::string& display_prefix,
                                  SourceMap& sources, Diagnostics& diagnostics);

}  // namespace bulkhead::policy
