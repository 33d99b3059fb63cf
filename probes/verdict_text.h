// What a verdict says to people: which packet, what was seen of it, and who did what.
#pragma once

#include <string>
#include <vector>

#include "probes/sight.h"

namespace bulkhead::probes {

[[nodiscard]] std::string flow_text(const compiler::Probe& probe);
// Who, as far as it is known: the part of the sentence that the reader acts on. May be empty.
[[nodiscard]] std::string detail_text(const Sight& sight);
// "enforcer:fw-a:default", "listener:r1g01:syn_seen", each once.
[[nodiscard]] std::vector<std::string> seen_text(const TryRecord& attempt);
// "2/2"; of an allowed probe nothing.
[[nodiscard]] std::string controls_text(const Sight& sight);

}  // namespace bulkhead::probes
