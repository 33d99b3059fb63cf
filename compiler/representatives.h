// Who speaks for a class when it is probed. A class is probed through one of its hosts, chosen by
// seed, so that repeated audits with other seeds walk through all of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/probe_plan.h"

namespace bulkhead::compiler {

// Agents first, then hosts that stand in for an agentless one, then agentless ones.
struct Candidates {
  std::vector<ProbeEnd> ends;
  std::string none_because;  // why `ends` is empty, or has no agent
};

class Representatives {
 public:
  Representatives(const Site& site, const PlanOptions& options);

  // Ends through which `cls` receives. An enforcer receives at every leg: see receiving_legs.
  [[nodiscard]] const Candidates& of(policy::ClassId cls, Family family) const;
  // One end for each address at which `cls` must be probed when `from` sends: the best candidate
  // on another host, or all of an enforcer's legs. Empty with a reason in `why`.
  [[nodiscard]] std::vector<ProbeEnd> targets(policy::ClassId cls, Family family,
                                              const ProbeEnd& from, std::string& why) const;
  // Ends that can send towards `to`, best first. Empty with a reason in `why`.
  [[nodiscard]] std::vector<ProbeEnd> sources(policy::ClassId cls, policy::ClassId to,
                                              Family family, std::string& why) const;
  // Hosts of the class, agentless ones too, whatever the family.
  [[nodiscard]] std::size_t host_count(policy::ClassId cls) const;

 private:
  void add_hosts();
  void add_outside_hosts();
  void add_enforcers();
  void order(std::uint64_t seed);
  void explain_absences();

  const Site& site_;
  std::map<std::pair<policy::ClassId, Family>, Candidates> by_class_;
};

}  // namespace bulkhead::compiler
