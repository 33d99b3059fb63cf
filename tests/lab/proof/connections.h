// What conntrack knows, told by what passed before: which state the next packet of a conversation
// has. Only as much as the packets of these tests need: no helpers, no timeouts, no windows.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "compiler/proof/packet.h"
#include "compiler/proof/packet_bytes.h"

namespace bulkhead::test {

class Connections {
 public:
  struct Known {
    compiler::proof::Connection connection;  // of the original direction
    Family family = Family::V4;
    bool answered = false;
  };

  // Fills in ct_state and connection of a packet about to be sent.
  void look_up(const compiler::proof::PacketFacts& facts, compiler::proof::Packet& packet) const;
  // The same of an ICMP error about a packet of that connection's original direction.
  static void relate(const Known& known, compiler::proof::Packet& packet);
  // Notes what the packet did: `after` as the interpreter left it, `passed` as the kernel did.
  void learn(const compiler::proof::PacketFacts& facts, const compiler::proof::Packet& after,
             bool passed);
  // Connections that can go on, in order of their making.
  [[nodiscard]] const std::vector<std::shared_ptr<Known>>& all() const { return all_; }

 private:
  struct Key {
    Family family;
    std::uint8_t protocol;
    compiler::proof::Value from, to;
    std::uint16_t sport, dport;
    auto operator<=>(const Key&) const = default;
  };
  struct Entry {
    std::shared_ptr<Known> known;
    bool reply = false;
  };
  static Key key_of(const compiler::proof::PacketFacts& facts);
  std::map<Key, Entry> by_tuple_;
  std::vector<std::shared_ptr<Known>> all_;
};

}  // namespace bulkhead::test
