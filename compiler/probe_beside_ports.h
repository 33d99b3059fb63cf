// What rules about ports and SYNs forget: other IP protocols, a TCP segment without SYN, what comes
// from a trusted port, ICMP queries beside a plain echo. A rule that lets one through does so for
// the whole cell, so one pair of hosts is enough.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "compiler/probe_shot.h"

namespace bulkhead::compiler {

// Whether a packet of ours can carry it: IPv6 reads some numbers as headers of its own chain.
[[nodiscard]] bool can_be_sent(std::uint8_t protocol, Family family);
// Who decides of such a packet of ours; null: nobody says. `cell` may be null.
[[nodiscard]] const policy::Piece* protocol_piece(const policy::Cell* cell, std::uint8_t protocol);

class BesidePorts {
 public:
  // `ports` are sorted: where every cell is asked, canaries among them.
  struct Ports {
    std::vector<std::uint16_t> canary, tcp, udp;
  };
  BesidePorts(const policy::Matrix& matrix, Ports ports);

  // Of what no flow of the cell speaks; `cell` and `back` may be null.
  [[nodiscard]] std::vector<Shot> by_default(const policy::Cell* cell, const policy::Cell* back,
                                             Family family) const;
  // Protocols that a flow of the cell allows or denies.
  [[nodiscard]] std::vector<Shot> said(const policy::Cell* cell, const policy::Cell* back,
                                       Family family) const;

 private:
  void add_protocols(const policy::Cell* cell, Family family, std::vector<Shot>& shots) const;
  static void add_queries(const policy::Cell* cell, Family family, std::vector<Shot>& shots);
  void add_trusted_sources(const policy::Cell* cell, Transport transport,
                           std::vector<Shot>& shots) const;

  Ports ports_;
  std::set<std::uint8_t> protocols_;  // that every denied cell is asked
};

// To `port` from each port that careless filters trust.
void add_from_trusted_sources(Shot shot, std::vector<Shot>& shots);

}  // namespace bulkhead::compiler
