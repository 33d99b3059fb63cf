// What a property that failed shows.
#pragma once

#include <string>

#include "compiler/proof/interpret.h"

namespace bulkhead::compiler::proof::test {

std::string told(const Ruleset& ruleset);
std::string told(const Ruleset& ruleset, const Packet& packet, const Answer& answer);

}  // namespace bulkhead::compiler::proof::test
