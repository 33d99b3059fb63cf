#include "cli/report/says.h"

#include <map>
#include <vector>

namespace bulkhead::cli {

std::string what_flows(const policy::Cell* cell) {
  if (cell && cell->everything)
    return "everything";
  std::map<policy::TrafficKey, std::vector<PortRange>> allowed;
  if (cell) {
    for (const policy::Piece& piece : cell->pieces) {
      if (piece.action == policy::Action::Allow)
        allowed[piece.key].push_back(piece.ports);
    }
  }
  std::string text;
  for (const auto& [key, ports] : allowed) {
    if (!text.empty())
      text += "; ";
    text += policy::to_string(policy::Traffic{key, PortSet::from(ports)});
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace bulkhead::cli
