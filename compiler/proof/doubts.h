// What the comparison does not follow, found by the shape of the rules: where a ruleset has any of
// it, "equal for all packets" cannot be said. Each was seen to break or open traffic on a kernel
// (6.18) while every packet of the model passed as it should.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/proof/ruleset.h"

namespace bulkhead::compiler::proof {

// Sentences; empty: none.
//  - arp and bridge chains that stop or change something: they are beside the ways of the model;
//  - chains that see the pieces of a datagram, before the kernel puts them together (priority -400
//    and below, ingress) or after it cuts them (egress), and ask what only some pieces have;
//  - marks in chains of type route, by which the kernel routes anew.
[[nodiscard]] std::vector<std::string> doubts(const Ruleset& ruleset);

// Conntrack zone by interface; not there: 0. Of packets that came in, and of those sent from here.
struct Zones {
  std::map<std::string, std::uint16_t> in, out;
  bool operator==(const Zones&) const = default;
};
// Replies in another zone than the packets they answer belong to no connection; the state of a
// packet is a field of the model, so zones are compared by themselves. Nothing where zones are set
// otherwise than by interface alone, directly in base chains before conntrack (-200).
[[nodiscard]] std::optional<Zones> zones(const Ruleset& ruleset);

}  // namespace bulkhead::compiler::proof
