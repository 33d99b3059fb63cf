// Hostlist notation of Slurm and pdsh: "r1g[01-08]", "10.1.0.[11-18,20]", "fd00:1::[11-18]".
// Leading zeros fix the width. Brackets may occur more than once (right-most varies fastest).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/support/result.h"

namespace bulkhead {

// At most `limit` names, else an error; unbalanced or empty brackets and descending ranges are
// errors. Ranges in decimal digits count in decimal, also inside IPv6 addresses (::[11-18] is ::11
// to ::18).
[[nodiscard]] Result<std::vector<std::string>> expand_hostlist(std::string_view text,
                                                               std::size_t limit = 65536);
// The reverse for people: {"r1g01","r1g02","x"} -> "r1g[01-02],x".
[[nodiscard]] std::string fold_hostlist(const std::vector<std::string>& names);

}  // namespace bulkhead
