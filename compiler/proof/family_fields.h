// Small words for what the two families and ICMP call differently.
#pragma once

#include "compiler/proof/diagram.h"
#include "policy/support/address.h"

namespace bulkhead::compiler::proof {

[[nodiscard]] inline ValueRange values(const AddressRange& range) {
  return {to_value(range.first), to_value(range.last)};
}
[[nodiscard]] constexpr std::size_t index(Family family) {
  return family == Family::V4 ? 0 : 1;
}
[[nodiscard]] constexpr Field source(Family family) {
  return family == Family::V4 ? Field::Source4 : Field::Source6;
}
[[nodiscard]] constexpr Field destination(Family family) {
  return family == Family::V4 ? Field::Destination4 : Field::Destination6;
}

// Type and code of ICMP are the two bytes that are the source port elsewhere.
[[nodiscard]] constexpr ValueRange icmp_types(ValueRange types) {
  return {types.first << 8, types.last << 8 | 0xff};
}

// Packets whose transport header can be read: all but later fragments.
[[nodiscard]] inline Diagram has_transport(Diagrams& space) {
  return space.masked(space.equal(Field::Fragment, 0), Field::Fragment, kFragmentOffset, 0);
}

}  // namespace bulkhead::compiler::proof
