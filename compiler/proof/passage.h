// An enforcer's three jobs, each a way through several hooks.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/proof/interpret.h"

namespace bulkhead::compiler::proof {

enum class Passage : std::uint8_t { Input, Forward, Output };
inline constexpr Passage kPassages[] = {Passage::Forward, Passage::Input, Passage::Output};
[[nodiscard]] std::string_view to_string(Passage passage);
[[nodiscard]] std::vector<Station> stations(Passage passage);

}  // namespace bulkhead::compiler::proof
