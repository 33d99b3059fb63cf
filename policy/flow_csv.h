// Flows as a spreadsheet: one row a flow, for the teams that keep them there. Both directions lose
// nothing that the columns name: what to_csv() wrote, parse_flow_csv() reads into the same flows,
// and to_csv() of those writes the same bytes. An included file's authority is not a column:
// imported flows are those of the file that they are pasted into.
#pragma once

#include <string>
#include <vector>

#include "policy/model.h"
#include "policy/support/diagnostic.h"

namespace bulkhead::policy {

// The columns in the order in which they are written; only the first four must be there when read.
inline constexpr std::string_view kFlowColumns[] = {
    "id", "from", "to", "services", "action", "both_ways", "why", "owner", "ticket", "expires"};

// `file` is a text of `sources` (file_reader.h puts it there). Lists in a cell are separated by
// blanks or semicolons; an empty cell is an empty list: nobody, with a warning. Rows with mistakes
// are reported at their cell and left out. Names are not resolved.
[[nodiscard]] std::vector<Flow> parse_flow_csv(std::uint32_t file, const SourceMap& sources,
                                               Diagnostics& diagnostics);

[[nodiscard]] std::string to_csv(const std::vector<Flow>& flows);
// [[flow]] blocks for policy.toml.
[[nodiscard]] std::string to_toml(const std::vector<Flow>& flows);

}  // namespace bulkhead::policy
