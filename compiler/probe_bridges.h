// Whether two segments are one wire: a cable, a bridge or a wrong VLAN between them needs no router
// and no route, and no flow matrix shows it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/probe_detours.h"

namespace bulkhead::compiler {

inline constexpr std::string_view kRuleBridged = "bridged";

// For each ordered pair of segments that something keeps apart, in each family that both have: a
// datagram and a SYN to `port`, sent by a host of the first in a frame to the very NIC of a host of
// the second, and once more in a broadcast. Neither host stands in both. Expected: nothing arrives.
// A large site has thousands of pairs; `seed` chooses at most some thousand.
[[nodiscard]] std::vector<DetourShot> bridges(const Site& site, const Representatives& who,
                                              std::uint16_t port, std::uint64_t seed);

// Whether members of the class stand on a segment's wire: neither behind hosts nor on InfiniBand.
[[nodiscard]] bool has_wire(const Site& site, policy::ClassId cls);

}  // namespace bulkhead::compiler
