// One enforcer's policy as nftables text: table `inet bulkhead`, replaced whole in one transaction.
// The shape, and the measurements behind it, are docs/adr/0001-nftables-shape.md; in short, of a
// packet in forward or input:
//
//   bh_legs     interface  -> l_<leg>      an interface nobody named: drop "unbound"
//   s4_/s6_     source     -> c_<class>    an address nobody holds there: drop "spoofed"
//   c_<class>   UDP 4791 by opcode, then replies and related errors of allowed flows, then
//   d4_/d6_     destination-> d_<services> bound to the egress leg, and from there
//   p_<set>     port, protocol -> verdict  or a few rules where a map would not pay
//   c_<class>   what is left: counter drops_<class>, drop "default"
//
// Output starts at what the enforcer's own addresses may do, and goes the same way.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/ir.h"

namespace bulkhead::compiler {

struct NftablesText {
  std::string text;
  std::size_t elements = 0;  // map elements and rules that carry a rule id
  std::map<std::string, std::vector<std::string>> hashed_rules;  // comment -> rule ids
};

[[nodiscard]] NftablesText nftables(const ir::Enforcer& enforcer);

}  // namespace bulkhead::compiler
