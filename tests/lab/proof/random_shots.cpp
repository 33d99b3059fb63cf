#include "random_shots.h"

#include <algorithm>

#include "random_words.h"

namespace bulkhead::test {

using compiler::proof::Fragment;
using compiler::proof::PacketFacts;

std::vector<Shot> random_shots(Dice& dice, std::size_t count, bool fragments) {
  const char* const kClient4[] = {"10.1.0.10", "10.1.0.11", "10.1.0.12"};
  const char* const kClient6[] = {"fd01::10", "fd01::11", "fd01::12"};
  const char* const kServer4[] = {"10.2.0.10", "10.2.0.11", "10.2.0.12"};
  const char* const kServer6[] = {"fd02::10", "fd02::11", "fd02::12"};
  const std::uint8_t kProtocols[] = {6, 6, 6, 17, 17, 17, 1, 58, 50, 132};
  const std::uint8_t kFlags[] = {0x02, 0x02, 0x10, 0x12, 0x01, 0x04, 0x18, 0x00, 0x29, 0x11};
  const std::uint8_t kTypes4[] = {8, 8, 0, 3, 13};
  const std::uint8_t kTypes6[] = {128, 128, 129, 1, 4};
  std::vector<Shot> shots;
  std::uint16_t unique = 20000;
  for (std::size_t i = 0; i < count; ++i) {
    Shot shot;
    shot.goes_on = dice.chance(35);
    shot.as_reply = dice.chance(60);
    shot.as_error = shot.goes_on && dice.chance(20);
    shot.which = dice.below(1000);
    PacketFacts& facts = shot.facts;
    facts.protocol = dice.one_of(kProtocols);
    const bool v6 = facts.protocol == 58 || (facts.protocol != 1 && dice.chance(40));
    const auto client = [&] { return v6 ? dice.one_of(kClient6) : dice.one_of(kClient4); };
    const auto server = [&] { return v6 ? dice.one_of(kServer6) : dice.one_of(kServer4); };
    std::string from = client(), to = server();
    if (dice.chance(30))
      std::swap(from, to);
    if (dice.chance(20))
      to = v6 ? "fd01::1" : "10.1.0.1";
    else if (dice.chance(20))
      from = to.starts_with("10.2") || to.starts_with("fd02") ? v6 ? "fd02::1" : "10.2.0.1"
             : v6                                             ? "fd01::1"
                                                              : "10.1.0.1";
    facts.from = *Address::parse(from);
    facts.to = *Address::parse(to);
    facts.sport = ++unique;
    facts.dport = static_cast<std::uint16_t>(dice.one_of(kPorts));
    facts.tcp_flags = dice.one_of(kFlags);
    facts.icmp_type = v6 ? dice.one_of(kTypes6) : dice.one_of(kTypes4);
    facts.icmp_id = unique;
    facts.dscp = dice.chance(20) ? 10 : 0;
    facts.destination_options = v6 && dice.chance(20);
    if (fragments && dice.chance(20))
      facts.fragment =
          Fragment{static_cast<std::uint16_t>(dice.chance(50) ? 0 : 9), dice.chance(70)};
    // BTH and management fields, where they are read: a few values that rules ask for.
    facts.payload.resize(dice.chance(50) ? 64 : 8 * dice.below(4));
    for (auto& byte : facts.payload)
      byte = dice.chance(60) ? 0 : static_cast<std::uint8_t>(dice.below(256));
    if (facts.payload.size() == 64 && dice.chance(50)) {
      facts.payload[0] = dice.chance(50) ? 0x64 : 0x11;
      facts.payload[2] = 0x80;
      facts.payload[3] = 0x01;
      facts.payload[7] = static_cast<std::uint8_t>(dice.below(12));
      facts.payload[21] = 7;
      facts.payload[37] = 0x10;
    }
    if (facts.protocol == 132)
      std::fill_n(facts.payload.begin(), std::min<std::size_t>(8, facts.payload.size()), 0);
    shots.push_back(std::move(shot));
  }
  return shots;
}

}  // namespace bulkhead::test
