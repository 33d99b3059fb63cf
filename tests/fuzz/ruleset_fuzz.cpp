// A listing from bytes: reading it ends with a ruleset or an error, and a packet that walks the
// ruleset comes to an end.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "compiler/proof/interpret.h"
#include "compiler/proof/packet_bytes.h"
#include "compiler/proof/ruleset_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace bulkhead::compiler::proof;
  const auto ruleset = parse_ruleset(std::string_view(reinterpret_cast<const char*>(bytes), size));
  if (!ruleset)
    return 0;
  PacketFacts facts;
  facts.from = *bulkhead::Address::parse("10.1.0.10");
  facts.to = *bulkhead::Address::parse("10.2.0.10");
  facts.protocol = 6;
  facts.dport = 80;
  Packet packet;
  packet.bytes = bytes_of(facts);
  packet.in = Device{"eth0", 2, 0, 1};
  packet.out = Device{"eth1", 3, 0, 1};
  packet.connection.emplace();
  (void)interpret(*ruleset, packet, forward_way(TableFamily::Ip));
  (void)interpret(*ruleset, packet, input_way(TableFamily::Ip));
  return 0;
}
