// An element of a set or map for a key, with all that may make it one that is not there. Below the
// rules of the interpreter.
#pragma once

#include <span>

#include "compiler/proof/journey.h"

namespace bulkhead::compiler::proof {

enum class Found : std::uint8_t { Yes, No, Unknown };

// `element` is set where it is known which one it is: not in a set that rules fill.
[[nodiscard]] Found look_up(Journey& journey, const Set& set, std::span<const Value> key,
                            const Element*& element);

}  // namespace bulkhead::compiler::proof
