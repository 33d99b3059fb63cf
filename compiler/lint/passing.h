// What passes at a hook, as the checks of hooks ask it.
#pragma once

#include "compiler/lint/checks.h"

namespace bulkhead::compiler::lint {

// A hook with rules that packets of a family meet; dormant tables do not count.
[[nodiscard]] std::vector<proof::Index> filters(const proof::Ruleset& ruleset,
                                                proof::TableFamily family, proof::Hook hook);

// At the input, forward or output hook; found once.
[[nodiscard]] const HookPackets& at_hook(Context& context, proof::Passage passage);

[[nodiscard]] proof::Diagram in_state(Context& context, proof::CtState state);
[[nodiscard]] proof::Diagram of_family(Context& context, Family family);
// " (for example tcp ...)", or nothing.
[[nodiscard]] std::string for_example(Context& context, proof::Diagram set);

}  // namespace bulkhead::compiler::lint
