// Who may ask whom over RoCEv2, and so who may only answer: gathered from all cells, since an
// allow in one cell says something of the opposite one.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "compiler/ir.h"

namespace bulkhead::compiler::ir {

class RocePairs {
 public:
  void say(const policy::Cell& cell, const policy::Piece& piece);  // Kind::Roce
  void say_open(const policy::Cell& cell) { pairs_[{cell.from, cell.to}].everything = true; }

  // Writes the RoCE destinations of every source that has any. `source_of` and `leg_of` are by
  // class.
  void finish(const std::vector<policy::Class>& classes, const std::vector<Index>& source_of,
              const std::vector<Index>& leg_of, Enforcer& out);

 private:
  std::map<std::pair<policy::ClassId, policy::ClassId>, RoceTarget> pairs_;
};

}  // namespace bulkhead::compiler::ir
