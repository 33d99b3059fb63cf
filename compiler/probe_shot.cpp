#include "compiler/probe_shot.h"

#include <algorithm>
#include <utility>

namespace bulkhead::compiler {

Said::Said(const policy::Cell* cell, policy::Kind kind, policy::Action action) {
  if (!cell)
    return;
  std::vector<PortRange> ranges;
  for (const policy::Piece& piece : cell->pieces) {
    if (piece.key.kind != kind || piece.action != action)
      continue;
    ranges.push_back(piece.ports);
    pieces.push_back(&piece);
  }
  ports = PortSet::from(std::move(ranges));
}

const policy::Piece* Said::at(std::uint16_t port) const {
  const auto found = std::find_if(pieces.begin(), pieces.end(), [&](const policy::Piece* piece) {
    return piece->ports.contains(port);
  });
  return found == pieces.end() ? nullptr : *found;
}

std::string rules_of(const policy::Piece& piece) {
  std::string text;
  for (const std::string& id : piece.rules)
    text += (text.empty() ? "" : ",") + id;
  return text;
}

}  // namespace bulkhead::compiler
