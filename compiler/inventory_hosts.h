// Hosts of inventory.toml: [host.NAME] tables, their hostlists expanded side by side.
#pragma once

#include <map>
#include <string>

#include "compiler/inventory.h"
#include "compiler/inventory_fields.h"
#include "policy/toml_reader.h"

namespace bulkhead::compiler {

// Adds to `hosts`, which may hold hosts of a CSV file already: a table then says more of the same
// host (labels, state, further NICs). A host in two tables is a mistake.
void read_host_tables(policy::TomlTable& root, const InventorySource& source,
                      std::map<std::string, Host>& hosts);

}  // namespace bulkhead::compiler
