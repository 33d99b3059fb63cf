#include "compiler/proof/strands.h"

#include <algorithm>
#include <span>

namespace bulkhead::compiler::proof {

namespace {

constexpr std::size_t kMostStrands = 64;
// No ending: the place of terminals that are not asked for.
constexpr Terminal kElsewhere = kMaxTerminal;
// Up to so many terminals one after the other is faster than halving.
constexpr std::size_t kFew = 4;

void halve(Diagrams& space, Diagram f, std::span<const Terminal> terminals, Parts& out) {
  if (terminals.size() <= kFew) {
    for (const Terminal terminal : terminals)
      out.emplace_back(terminal, space.where(f, terminal));
    return;
  }
  const std::size_t half = terminals.size() / 2;
  for (const auto side : {terminals.first(half), terminals.subspan(half)})
    halve(
        space,
        space.relabel(
            f, [&](Terminal t) { return t >= side.front() && t <= side.back() ? t : kElsewhere; }),
        side, out);
}

Changes forgotten(const Changes& a, const Changes& b) {
  Changes all = after(a, b);
  for (Change& change : all) {
    change.value.reset();
    change.copy.reset();
    change.mask = ~Value{0};
    change.flip = 0;
    change.by = {};
  }
  return all;
}

}  // namespace

void Strands::add(Diagrams& space, Strand strand) {
  if (strand.packets == space.nothing())
    return;
  const auto alike = std::find_if(strands_.begin(), strands_.end(), [&](const Strand& known) {
    return known.doubt == strand.doubt && known.changes == strand.changes;
  });
  if (alike != strands_.end()) {
    alike->packets = space.unite(alike->packets, strand.packets);
    return;
  }
  if (strands_.size() == kMostStrands) {
    Strand all = std::move(strands_.back());
    strands_.pop_back();
    for (const Strand& other : strands_) {
      all.packets = space.unite(all.packets, other.packets);
      all.changes = forgotten(all.changes, other.changes);
    }
    all.doubt = Doubt::Unknown;
    strands_ = {std::move(all)};
  }
  strands_.push_back(std::move(strand));
}

void Strands::add(Diagrams& space, const Strands& others) {
  for (const Strand& strand : others)
    add(space, strand);
}

Diagram Strands::packets(Diagrams& space) const {
  Diagram all = space.nothing();
  for (const Strand& strand : strands_)
    all = space.unite(all, strand.packets);
  return all;
}

Strands Strands::within(Diagrams& space, Diagram set) const {
  Strands out;
  for (const Strand& strand : strands_)
    out.add(space, {space.intersect(strand.packets, set), strand.changes, strand.doubt});
  return out;
}

Parts parts(Diagrams& space, Diagram f) {
  Parts out;
  const std::vector<Terminal> terminals = space.terminals(f);
  halve(space, f, terminals, out);
  return out;
}

std::vector<Passing> Splitter::split(Diagram does, const Strand& strand) {
  const Diagram seen = strand.changes.empty() ? does : symbolic_.changed(strand.changes, does);
  const auto [found, is_new] = known_.try_emplace(seen.id());
  if (is_new)
    found->second = parts(space_, seen);
  std::vector<Passing> out;
  for (const auto& [terminal, set] : found->second) {
    const Diagram here = space_.intersect(strand.packets, set);
    if (here == space_.nothing())
      continue;
    const Ending& ending = endings_.at(terminal);
    const Doubt doubt = ending.ways.size() == 1 && ending.unknown.empty() ? Doubt::None
                        : ending.unknown.empty()                          ? Doubt::Chance
                                                                          : Doubt::Unknown;
    for (const Way& way : ending.ways)
      out.push_back({way, {here, way.changes, std::max(doubt, strand.doubt)}, ending.unknown});
  }
  return out;
}

}  // namespace bulkhead::compiler::proof
