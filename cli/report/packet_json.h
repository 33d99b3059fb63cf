// What reports of the proof say alike of packets, as JSON: one packet, and the packets of one
// difference.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "compiler/proof/difference.h"

namespace bulkhead::cli {

[[nodiscard]] nlohmann::ordered_json packet_json(const compiler::proof::Example& example);
// "families", "from", "to", "traffic", "state", "interfaces" and "others": the packets in words.
[[nodiscard]] nlohmann::ordered_json words_json(const std::vector<Family>& families,
                                                const compiler::proof::NamedBox& box);
// The words, what the policy says of the packets, and one of them as "example".
[[nodiscard]] nlohmann::ordered_json difference_json(const compiler::proof::Difference& difference);

}  // namespace bulkhead::cli
