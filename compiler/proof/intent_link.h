// What links need before addresses mean anything, in the enforcer's own input and output: neighbour
// discovery, multicast listener reports, DHCP from clients without an address, protocols that speak
// from link-local addresses to a group, and the loopback.
#pragma once

#include <map>
#include <string_view>

#include "compiler/proof/intent.h"

namespace bulkhead::compiler::proof {

class LinkIntents {
 public:
  LinkIntents(Diagrams& space, const Site& site, const EnforcerView& view);

  // `by_class` with the exceptions of the link before it.
  [[nodiscard]] Diagram input(Diagram by_class);
  [[nodiscard]] Diagram output(Diagram by_class);

 private:
  struct Needs {  // sets
    Diagram allowed, denied;
  };

  Diagram all_of(std::initializer_list<Diagram> sets);
  Diagram udp(PortRange from, PortRange to);
  Diagram in_prefix(Field field, std::string_view prefix);
  Diagram arriving_at(Value leg);
  void find_legs(const Site& site, const EnforcerView& view);
  void find_needs(const Site& site, const EnforcerView& view);
  void need_dhcp(const policy::Piece& piece, Family family, Value leg);
  void need_group(const policy::Piece& piece, bool inbound, Value leg);
  static void add(Diagrams& space, Needs& needs, const policy::Piece& piece, Diagram packets);

  Diagrams& space_;
  Value loopback_;
  std::map<Value, Diagram> legs_;  // packets that arrive there
  bool in_vrf_ = false;
  // Sets of packets.
  Diagram neighbour_, listener_;  // with the hop limit that the RFC asks for
  Diagram alike_;                 // the same types, however sent: they open nothing
  Diagram link_local_;            // from fe80::/10 or ::
  Diagram speaking_;              // neighbour discovery from who is on the link
  Diagram on_v6_legs_;
  Diagram without_address_;  // from 0.0.0.0, where a server listens
  Needs in_, out_;
};

}  // namespace bulkhead::compiler::proof
