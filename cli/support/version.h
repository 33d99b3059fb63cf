#pragma once

#include <string_view>

namespace bulkhead::cli {

inline constexpr std::string_view kVersion = BULKHEAD_VERSION;  // of the CMake project

}  // namespace bulkhead::cli
