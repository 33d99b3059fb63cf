// What one cell is probed with, before anybody is chosen to send it: every allowed piece at its
// ends and middle, and for what is denied every service that the policy names, the edges of what is
// allowed, canary ports, ICMP echo and RoCE.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "compiler/probe_plan.h"

namespace bulkhead::compiler {

struct Shot {
  Transport transport = Transport::Tcp;
  std::uint16_t port = 0;
  std::uint16_t sport = 0;  // 0: any
  Payload payload = Payload::Token;
  std::uint16_t size = 0;
  Expect expect = Expect::Deny;
  std::string rule{};
  auto operator<=>(const Shot&) const = default;
};

struct CellTraffic {
  std::vector<Shot> shots;            // sorted, no two alike
  std::vector<std::string> untested;  // pieces that no transport of ours can carry: "sctp 5000"
};

// `back` is the opposite cell (null: nothing said): a one-way RoCE flow there lets answers through
// here.
[[nodiscard]] CellTraffic traffic_of(const policy::Matrix& matrix, const policy::Cell* cell,
                                     const policy::Cell* back, Family family,
                                     const std::vector<std::uint16_t>& canary_ports);

}  // namespace bulkhead::compiler
