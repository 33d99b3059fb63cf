// A universe small enough to hold every packet in a list, and functions over it held twice: as a
// diagram, and as that list. What is done to one is done to the other by code that shares nothing.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "compiler/proof/diagram.h"

namespace bulkhead::compiler::proof::test {

// One digit or several, a whole last digit or not.
inline constexpr std::array<FieldInfo, 4> kSmall{
    {{"a", 3, 3, 5}, {"b", 4, 2}, {"c", 3, 1}, {"d", 2, 2, 2}}};
inline constexpr Field kA{0}, kB{1}, kC{2}, kD{3};

using Packet = std::array<Value, kSmall.size()>;

inline const std::vector<Packet>& all_packets() {
  static const std::vector<Packet> packets = [] {
    std::vector<Packet> out;
    Packet p{};
    for (p[0] = 0; p[0] <= max_of(kSmall[0]); ++p[0])
      for (p[1] = 0; p[1] <= max_of(kSmall[1]); ++p[1])
        for (p[2] = 0; p[2] <= max_of(kSmall[2]); ++p[2])
          for (p[3] = 0; p[3] <= max_of(kSmall[3]); ++p[3])
            out.push_back(p);
    return out;
  }();
  return packets;
}

using List = std::vector<Terminal>;  // by packet

inline List list_of(const std::function<Terminal(const Packet&)>& function) {
  List out;
  for (const Packet& packet : all_packets())
    out.push_back(function(packet));
  return out;
}

inline List list_of(const Diagrams& space, Diagram f) {
  return list_of([&](const Packet& packet) { return space.at(f, packet); });
}

// The diagram of a list, made from single values only.
inline Diagram diagram_of(Diagrams& space, const List& list) {
  std::size_t next = 0;
  const auto from = [&](const auto& self, std::size_t field) -> Diagram {
    if (field == kSmall.size())
      return space.constant(list[next++]);
    std::vector<Branch> branches;
    for (Value value = 0; value <= max_of(kSmall[field]); ++value)
      branches.push_back({{value, value}, self(self, field + 1)});
    return space.branch(static_cast<Field>(field), branches, space.nothing());
  };
  return from(from, 0);
}

}  // namespace bulkhead::compiler::proof::test
