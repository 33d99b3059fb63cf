// Hosts from spreadsheets, since nobody types 128 hosts x 10 NICs. One row a NIC:
// host,nic,mac,segment,v4,v6,port_guid,switch,port are its columns, and labels, ssh, state,
// forwards, agentless, stand_in and rdma may be added. Several addresses or labels in one cell are
// separated by blanks.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "compiler/inventory.h"
#include "compiler/inventory_fields.h"

namespace bulkhead::compiler {

void read_hosts_csv(const Name& file, const InventorySource& source,
                    std::map<std::string, Host>& hosts);

// host,nic,port_guid: what `port_guid = "guids.csv"` of a NIC refers to. Keys: host and NIC.
using PortGuids = std::map<std::pair<std::string, std::string>, Name>;
// Nothing where the file as a whole could not be used.
[[nodiscard]] std::optional<PortGuids> read_guids_csv(const Name& file,
                                                      const InventorySource& source);

}  // namespace bulkhead::compiler
