// The words by which --include and --exclude choose probes.
#pragma once

#include <set>
#include <string>

#include "compiler/site.h"

namespace bulkhead::compiler {

// Every tag that a probe of this site could carry: transports, families, "allow" and "deny",
// classes, their places and tenants, ids of flows, and for what no flow says "default", "inside",
// "spoofed", "bridged" and "forwards".
[[nodiscard]] std::set<std::string> probe_tags(const Site& site);

}  // namespace bulkhead::compiler
