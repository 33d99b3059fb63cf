// Address translation of one packet, as the kernel's nat core does it. Below the interpreter.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/proof/packet.h"

namespace bulkhead::compiler::proof {

// What a nat statement says, looked up for this packet.
struct Target {
  std::optional<Value> address, port;
  bool unknown_address = false, unknown_port = false;  // one of several, by the kernel's choice
};

struct Translated {
  std::string what;                 // "dnat to 10.0.0.1:80"
  std::vector<Selector> uncertain;  // fields of which the new value is not known
};

// The first packet of a connection; notes the translation in its connection.
Translated translate_new(Packet& packet, const Nat& nat, const Target& target);

// Packets of a connection that was translated before, at this hook.
void translate_known(Packet& packet, Hook hook);

// At which priority that happens (effective_priority says what it means for nat chains).
[[nodiscard]] std::int32_t translation_priority(Hook hook);

}  // namespace bulkhead::compiler::proof
