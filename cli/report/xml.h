// What text of others becomes inside XML.
#pragma once

#include <string>
#include <string_view>

namespace bulkhead::cli {

// For attributes and content. Lines stay; other control characters and invalid UTF-8 become '?'.
[[nodiscard]] std::string xml_escape(std::string_view raw);

}  // namespace bulkhead::cli
