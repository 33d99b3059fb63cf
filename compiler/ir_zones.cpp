#include "compiler/ir_zones.h"

#include <algorithm>
#include <map>

namespace bulkhead::compiler::ir {

void number_zones(const std::vector<std::string>& vrf_of, std::vector<Leg>& legs) {
  std::map<std::string, std::vector<AddressRange>> ranges;
  for (Index leg = 0; leg < legs.size(); ++leg)
    for (const SourceRange& source : legs[leg].sources)
      ranges[vrf_of[leg]].push_back(source.range);
  std::map<std::string, AddressSet> held;
  for (auto& [vrf, list] : ranges)
    held[vrf] = AddressSet::from(std::move(list));
  std::map<std::string, std::uint16_t> zone;
  for (const auto& [vrf, addresses] : held) {
    const bool overlaps = std::any_of(held.begin(), held.end(), [&](const auto& other) {
      return other.first != vrf && other.second.overlaps(addresses);
    });
    if (overlaps)
      zone.emplace(vrf, static_cast<std::uint16_t>(zone.size() + 1));
  }
  for (Index leg = 0; leg < legs.size(); ++leg)
    if (const auto found = zone.find(vrf_of[leg]); found != zone.end())
      legs[leg].zone = found->second;
}

}  // namespace bulkhead::compiler::ir
