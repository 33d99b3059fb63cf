// Paths around the firewall: what no flow matrix shows, because no router of the inventory is on
// them.
#pragma once

#include <string>
#include <vector>

#include "compiler/probe_traffic.h"
#include "compiler/representatives.h"

namespace bulkhead::compiler {

struct DetourShot {
  EndId from = 0, to = 0;  // into Representatives::ends
  Shot shot;
  Cause cause = Cause::None;
  std::string enforcer{};  // that the detour goes around
  Detour detour{};         // none: the control
};

// For each host that says `forwards = false`, each ordered pair of its segments that something
// keeps apart, and each family: one datagram to `port`, sent by one end of the first segment to one
// of the second through that host. Expected: nothing arrives, since the host's kernel has no way
// for it. A segment where nobody else stands has nobody to send or to receive. Beside each, where
// the segment is open inside, an allowed exchange of the sender with that host: its control.
[[nodiscard]] std::vector<DetourShot> detours(const Site& site, const Representatives& who,
                                              std::uint16_t port);

}  // namespace bulkhead::compiler
