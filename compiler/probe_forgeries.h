// Packets that claim another's address: the one thing that no honest probe shows of a firewall that
// tells classes apart by their addresses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/probe_traffic.h"
#include "compiler/representatives.h"

namespace bulkhead::compiler {

inline constexpr std::string_view kRuleSpoofed = "spoofed";  // as the ruleset's comment has it

struct Forgery {
  EndId sender = 0;   // all three into Representatives::ends
  EndId claimed = 0;  // whose address is the packet's source
  EndId to = 0;
  Shot shot;
  std::string enforcer;
  Detour leg;  // of the enforcer, in the sender's segment: the frame goes there
};

// For each class at a leg of an enforcer of ours, each class bound to another leg of it, each
// family and each destination behind it: one datagram with the latter's source, to a service that
// the latter may reach where there is one, else to `port`. Expected: the anti-spoofing rule drops
// it. Large sites have millions of these; `seed` chooses at most some thousands.
[[nodiscard]] std::vector<Forgery> forgeries(const Site& site, const Representatives& who,
                                             std::uint16_t port, std::uint64_t seed);

}  // namespace bulkhead::compiler
