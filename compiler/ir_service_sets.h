// Service sets are shared: thousands of pairs of classes with the same flows are one set, and one
// map in the kernel.
#pragma once

#include <deque>
#include <unordered_map>
#include <vector>

#include "compiler/ir.h"

namespace bulkhead::compiler::ir {

class ServiceSets {
 public:
  // Fills `sets`; pieces that no cell holds as they are go into `made`. Both must outlive this.
  ServiceSets(std::vector<ServiceSet>& sets, std::deque<policy::Piece>& made)
      : sets_(sets), made_(made) {}

  Index intern(ServiceSet set);
  // Two sets that one address and one leg cannot tell apart: a multicast group that several
  // classes listen to. Where they speak of the same traffic a deny beats an allow.
  Index join(Index a, Index b);
  const policy::Piece* join(const policy::Piece& a, const policy::Piece& b);

 private:
  std::vector<ServiceSet>& sets_;
  std::deque<policy::Piece>& made_;
  std::unordered_multimap<std::size_t, Index> known_;  // by hash
};

}  // namespace bulkhead::compiler::ir
