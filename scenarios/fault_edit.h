// Small operations on the text of a ruleset, by its blocks and lines: the compiler writes one
// statement a line and a brace that closes stands alone. Pure.
#pragma once

#include <string>
#include <string_view>

#include "policy/support/result.h"

namespace bulkhead::scenarios {

// In the block that opens with "<block> {" (empty: the whole text), the first line that holds
// `find` gets `replacement` in place of it; an empty replacement takes the whole line away. With an
// empty `find`, `replacement` becomes the block's last line, or is put behind the text. Usage error
// where block or line is not there.
[[nodiscard]] Result<std::string> edit_ruleset(const std::string& text, std::string_view block,
                                               std::string_view find, std::string_view replacement);

}  // namespace bulkhead::scenarios
