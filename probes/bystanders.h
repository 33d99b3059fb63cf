// Who may see a packet that is not for it. Switches flood what they do not know where to send, so
// whoever stands on a sender's way to the first firewall may see a packet that is then denied. Seen
// by anybody else it was copied, redirected or bridged past the firewall.
#pragma once

#include <set>
#include <string>

#include "compiler/probe_plan.h"
#include "compiler/topology.h"

namespace bulkhead::probes {

class Bystanders {
 public:
  // `site` outlives it.
  explicit Bystanders(const compiler::Site& site);

  // Whether `host` must not have seen the denied `probe` by `interface`. An interface that nobody
  // declared leaks where no NIC of the host may have seen it.
  [[nodiscard]] bool leaks(const compiler::Probe& probe, const std::string& host,
                           const std::string& interface) const;
  // Segment, or "external:NAME", of a NIC; words of one that the inventory does not have; empty: of
  // a host that it does not have.
  [[nodiscard]] std::string place_of(const std::string& host, const std::string& interface) const;

 private:
  [[nodiscard]] std::set<std::string> on_the_way(const compiler::Probe& probe) const;

  const compiler::Site& site_;
  compiler::Topology topology_;
};

}  // namespace bulkhead::probes
