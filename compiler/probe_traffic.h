// What one cell is probed with, before anybody is chosen to send it: every allowed piece at its
// ends and middle, and for what is denied every service that the policy names, the edges of what is
// allowed, canary ports (from ports that careless filters trust, and with large datagrams too),
// ICMP echo, RoCE, and what rules about ports forget.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/probe_beside_ports.h"

namespace bulkhead::compiler {

struct CellTraffic {
  // What no flow speaks of and every such cell is asked; owned by the maker; null: nothing.
  const std::vector<Shot>* by_default = nullptr;
  // What rules about ports and SYNs forget, denied by default as well: for one pair of hosts. Owned
  // by the maker; null: nothing.
  const std::vector<Shot>* beside_ports = nullptr;
  std::vector<Shot> said;             // what a flow decides, or what is there to reach
  std::vector<std::string> untested;  // pieces that no transport of ours can carry: "sctp 5000"
};

// Made once for a site: what is asked of every cell alike is worked out once.
class TrafficMaker {
 public:
  // No canary ports: bulkhead's own.
  TrafficMaker(const policy::Matrix& matrix, std::vector<std::uint16_t> canary_ports);
  // Where it is asked whether anything arrives at all.
  [[nodiscard]] std::uint16_t canary_port() const { return canary_ports_.front(); }
  // `back` is the opposite cell (null: nothing said): a one-way RoCE flow there lets answers
  // through here. The result refers into this until its end.
  [[nodiscard]] CellTraffic of(const policy::Cell* cell, const policy::Cell* back, Family family);

 private:
  using Ports = std::vector<std::uint16_t>;  // sorted, each once
  [[nodiscard]] Ports denied_ports(const PortSet& allowed, const PortSet& denied,
                                   policy::Kind kind) const;
  void add_ports(const policy::Cell* cell, policy::Kind kind, std::vector<Shot>& shots) const;
  void add_roce(const policy::Cell* cell, const policy::Cell* back, std::vector<Shot>& shots) const;
  void add_dhcp(const policy::Cell* cell, Family family, std::vector<Shot>& shots) const;
  const std::vector<Shot>* beside_ports(const policy::Cell* cell, const policy::Cell* back,
                                        Family family);
  [[nodiscard]] std::vector<Shot> shots_of(const policy::Cell* cell, const policy::Cell* back,
                                           Family family) const;
  [[nodiscard]] std::vector<Shot> reachability() const;
  const std::vector<Shot>* keep(std::vector<Shot> shots);

  Ports canary_ports_;
  Ports tcp_, udp_;  // where every denied cell is asked
  bool names_dhcp_ = false;
  BesidePorts beside_ports_;
  std::set<std::vector<Shot>> kept_;  // lists of what is denied by default
  // Of a cell of which nothing is said.
  std::map<Family, const std::vector<Shot>*> silent_, silent_beside_ports_;
};

}  // namespace bulkhead::compiler
