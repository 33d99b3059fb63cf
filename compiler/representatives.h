// Who speaks for a class when it is probed. A class is probed through one of its hosts, chosen by
// seed, so that repeated audits with other seeds walk through all of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/probe_plan.h"

namespace bulkhead::compiler {

class Representatives {
 public:
  Representatives(const Site& site, const PlanOptions& options);

  // All that may be probed. Everything below speaks of them by their place here.
  [[nodiscard]] const std::vector<ProbeEnd>& ends() const { return ends_; }
  // One end for each address at which `cls` must be probed when `from` sends: the best candidate
  // on another host, or all of an enforcer's legs. Empty with a reason in `why`.
  [[nodiscard]] std::vector<EndId> targets(policy::ClassId cls, Family family, EndId from,
                                           std::string& why) const;
  // Ends that can send towards `to`, best first. Empty with a reason in `why`.
  [[nodiscard]] std::vector<EndId> sources(policy::ClassId cls, policy::ClassId to, Family family,
                                           std::string& why) const;
  // All of a class: agents first, then hosts that stand in for an agentless one, then agentless
  // ones.
  [[nodiscard]] const std::vector<EndId>& all(policy::ClassId cls, Family family) const {
    return of(cls, family).ends;
  }
  // Hosts of the class, agentless ones too, whatever the family.
  [[nodiscard]] std::size_t host_count(policy::ClassId cls) const { return host_count_[cls]; }

 private:
  struct Candidates {
    std::vector<EndId> ends;
    std::string none_because;  // why `ends` is empty, or has no agent
  };
  [[nodiscard]] const Candidates& of(policy::ClassId cls, Family family) const;
  void add(ProbeEnd end);
  void add_hosts();
  void add_outside_hosts();
  void add_enforcers();
  void order(std::uint64_t seed);
  void explain_absences();
  void count_hosts();

  const Site& site_;
  std::vector<ProbeEnd> ends_;
  std::vector<Candidates> candidates_;  // of each class, IPv4 then IPv6
  std::vector<std::size_t> host_count_;
};

}  // namespace bulkhead::compiler
