// Random packets out of the world of random_words.h.
#pragma once

#include <vector>

#include "compiler/proof/packet_bytes.h"
#include "dice.h"

namespace bulkhead::test {

struct Shot {
  bool goes_on = false;  // a packet of a connection that is there already
  bool as_reply = false;
  bool as_error = false;  // an ICMP error about it
  std::size_t which = 0;
  compiler::proof::PacketFacts facts;  // of a new one; flags and types of one that goes on
};
[[nodiscard]] std::vector<Shot> random_shots(Dice& dice, std::size_t count, bool fragments);

}  // namespace bulkhead::test
