// A source address is only as good as the leg it is bound to: whoever enters by the same leg can
// claim it. So where two classes share a leg and one may do what the other may not, the other's
// denial rests on nothing.
#include <algorithm>
#include <map>

#include "compiler/coverage_parts.h"

namespace bulkhead::compiler {
namespace {

using policy::Cell;
using policy::ClassId;

// What a cell allows, by key.
using Allowed = std::map<policy::TrafficKey, PortSet>;

Allowed allowed_in(const Cell* cell) {
  std::map<policy::TrafficKey, std::vector<PortRange>> ranges;
  if (cell)
    for (const policy::Piece& piece : cell->pieces)
      if (piece.action == policy::Action::Allow)
        ranges[piece.key].push_back(piece.ports);
  Allowed out;
  for (auto& [key, list] : ranges)
    out.emplace(key, PortSet::from(std::move(list)));
  return out;
}

bool has_all_of(const Allowed& mine, const Allowed& theirs) {
  return std::all_of(theirs.begin(), theirs.end(), [&](const auto& entry) {
    const auto own = mine.find(entry.first);
    return own != mine.end() && own->second.contains(entry.second);
  });
}

// Classes on one leg that may do the same towards one destination are alike; only unlike ones are
// compared.
struct Alike {
  Allowed allowed;
  std::vector<ClassId> classes;
};

std::vector<Alike> group(const policy::Matrix& matrix, const std::vector<ClassId>& on_leg,
                         ClassId to) {
  std::map<Allowed, std::vector<ClassId>> groups;
  for (const ClassId from : on_leg)
    groups[allowed_in(matrix.find(from, to))].push_back(from);
  std::vector<Alike> out;
  for (auto& [allowed, classes] : groups)
    out.push_back({allowed, std::move(classes)});
  return out;
}

}  // namespace

void find_unseparated(const CoverageFacts& facts, Coverage& coverage) {
  const auto& classes = facts.matrix.universe.classes;
  for (const EnforcerView& view : coverage.views) {
    std::map<std::string, std::vector<ClassId>> legs;
    for (const LegBinding& binding : view.bindings)
      legs[binding.interface].push_back(binding.cls);
    for (const auto& [interface, on_leg] : legs) {
      if (on_leg.size() < 2)
        continue;
      for (ClassId to = 0; to < classes.size(); ++to) {
        const std::vector<Alike> groups = group(facts.matrix, on_leg, to);
        if (groups.size() < 2)
          continue;
        for (const Alike& mine : groups) {
          const auto richer = std::find_if(groups.begin(), groups.end(), [&](const Alike& theirs) {
            return &theirs != &mine && !has_all_of(mine.allowed, theirs.allowed);
          });
          if (richer == groups.end())
            continue;
          for (const ClassId from : mine.classes) {
            CellCoverage& cell = coverage.cells[from * coverage.n + to];
            // Only where this enforcer is the first to see the packet does the leg decide.
            if (cell.cause == Cause::Rule && cell.control == view.enforcer)
              cell.not_separated_from = classes[richer->classes.front()].name;
          }
        }
      }
    }
  }
}

}  // namespace bulkhead::compiler
