#include "cli/report/packet_json.h"

#include <nlohmann/json.hpp>

#include "cli/support/terminal.h"

namespace bulkhead::cli {

namespace proof = compiler::proof;

nlohmann::ordered_json packet_json(const proof::Example& example) {
  return {{"in", example.in},
          {"out", example.out},
          {"from", example.facts.from.str()},
          {"to", example.facts.to.str()},
          {"protocol", example.facts.protocol},
          {"sport", example.facts.sport},
          {"dport", example.facts.dport},
          {"text", printable(proof::to_string(example))},
          {"exact", example.is_exact}};
}

nlohmann::ordered_json words_json(const std::vector<Family>& families, const proof::NamedBox& box) {
  nlohmann::ordered_json names = nlohmann::ordered_json::array();
  for (const Family family : families)
    names.push_back(to_string(family));
  return {{"families", std::move(names)},
          {"from", printable(box.from)},
          {"to", printable(box.to)},
          {"traffic", printable(box.traffic)},
          {"state", box.state},
          {"interfaces", printable(box.interfaces)},
          {"others", printable(box.others)}};
}

nlohmann::ordered_json difference_json(const proof::Difference& difference) {
  nlohmann::ordered_json out = words_json(difference.families, difference.box);
  out["nevers"] = difference.policy.nevers;
  out["denied_by"] = difference.policy.denied;
  out["allowed_by"] = difference.policy.allowed;
  out["example"] = packet_json(difference.example);
  return out;
}

}  // namespace bulkhead::cli
