#include "scenarios/ssh_destination.h"

#include "policy/support/hostlist.h"

namespace bulkhead::scenarios {

std::string ssh_destination(const compiler::Inventory& inventory, const std::string& name) {
  if (const auto host = inventory.hosts.find(name); host != inventory.hosts.end())
    return host->second.ssh.empty() ? name : host->second.ssh;
  for (const auto& [enforcer_name, enforcer] : inventory.enforcers) {
    const auto names = expand_hostlist(enforcer.ssh);
    for (std::size_t i = 0; i < enforcer.members.size(); ++i)
      if (enforcer.members[i] == name && names && i < names->size() && !names->at(i).empty())
        return names->at(i);
  }
  return name;
}

}  // namespace bulkhead::scenarios
