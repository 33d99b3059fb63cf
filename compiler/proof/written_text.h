// A ruleset file that compiler/targets wrote, read without nft and without a kernel: what is about
// to be written is proven in memory (docs/adr/0005-proof-before-writing.md). Only the part of nft's
// language that is written there is known, and everything else is an error: what is read is never
// more or less than what the text says. It becomes the entries that nft would list, so that one
// reader (ruleset_json.h), held against the kernel, gives them their meaning.
#pragma once

#include <functional>
#include <string_view>

#include "compiler/proof/json_tree.h"

namespace bulkhead::compiler::proof {

// Calls `each` with every entry in the order of a listing (table, counters, maps, chains, rules);
// an error of it ends the reading. Environment error, with the line, for what is not known.
[[nodiscard]] Status read_written(std::string_view nft_text,
                                  const std::function<Status(const Json& entry)>& each);

}  // namespace bulkhead::compiler::proof
