// What one class may send another, behind the question where the packet comes from and goes to:
// protocol, ports and connection state. Diagrams here ask only fields behind OutInterface.
#pragma once

#include <map>
#include <vector>

#include "compiler/proof/intent.h"

namespace bulkhead::compiler::proof {

class ServiceIntents {
 public:
  // `space` must outlive it.
  explicit ServiceIntents(Diagrams& space);

  // Packets of one family from a class to another: cell `forth`, and what answers cell `back`. Null
  // where the matrix says nothing.
  Diagram between(const policy::Cell* forth, const policy::Cell* back, Family family);
  // To anybody else: answers to what passed before.
  Diagram to_others(Family family);
  // Pieces of one multicast or broadcast group.
  Diagram to_group(const std::vector<const policy::Piece*>& pieces, Family family);

 private:
  Diagram opening(const policy::Cell* cell, Family family);
  Diagram answering(const policy::Cell* cell, Family family);
  Diagram by_state(Diagram opens, Diagram answers, Family family, bool has_flow);
  Diagram roce(const policy::Cell* forth, const policy::Cell* back);
  Diagram packet_of(const policy::Piece& piece, Family family);
  Diagram answer_to(const policy::Piece& piece, Family family);
  Diagram ports_of(Value protocol, Field field, PortRange ports);
  Diagram icmp_type(Family family, Value type);
  Diagram all_of(std::initializer_list<Diagram> sets);

  Diagrams& space_;
  // Sets, made once.
  Diagram has_header_;  // not a later fragment, so that ports can be read
  Diagram reply_;       // of an established connection, against its first packet
  Diagram to_roce_;     // UDP 4791
  Diagram errors_[2];   // related ICMP errors, by family
  Diagram requests_, roce_answers_;
  // Functions of state alone.
  Diagram opens_state_, answers_state_;
  std::map<std::pair<const policy::Cell*, Family>, Diagram> opening_, answering_;
};

}  // namespace bulkhead::compiler::proof
