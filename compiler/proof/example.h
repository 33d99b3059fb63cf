// One concrete packet out of a set: what a person can picture, a trace can walk and a probe can
// send. Prefers what real traffic looks like (a client's port, a new connection, a whole packet).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/proof/box.h"
#include "compiler/proof/packet.h"
#include "compiler/proof/packet_bytes.h"
#include "compiler/site.h"

namespace bulkhead::compiler::proof {

inline constexpr std::uint16_t kClientPort = 40000;  // a source port, where any will do

struct Example {
  PacketFacts facts;
  Packet packet;         // its bytes, devices and connection
  std::string in, out;   // interfaces; empty: none
  bool is_exact = true;  // the packet lies in the set; else a field cannot be had in a real packet
};

// Values that a reader knows, for fields where one of them is possible: the first one counts.
using Familiar = std::map<Field, std::vector<Value>>;
// Legs and hosts of a site, those with an agent first; destinations in the opposite order, so that
// a packet of one class to itself is not from a host to itself.
[[nodiscard]] Familiar familiar(const Site& site, const EnforcerView& view);

// Nothing of an empty set.
[[nodiscard]] std::optional<Example> example_of(const Diagrams& space, Diagram set,
                                                const Familiar& familiar = {});

// "10.1.0.11:40000 -> 10.3.0.11:22 tcp, in by bond0.101, out by bond0.103"
[[nodiscard]] std::string to_string(const Example& example);

}  // namespace bulkhead::compiler::proof
