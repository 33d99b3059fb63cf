// Golden files: what a screen looked like when somebody last read it with care.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace bulkhead {

// Compares with tests/golden/NAME; with BULKHEAD_UPDATE_GOLDEN=1 writes it instead. Read the
// difference in review.
inline void expect_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path path =
      std::filesystem::path(BULKHEAD_SOURCE_DIR) / "tests/golden" / name;
  const char* update = std::getenv("BULKHEAD_UPDATE_GOLDEN");
  if (update && std::string_view(update) == "1") {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ostringstream kept;
  kept << std::ifstream(path, std::ios::binary).rdbuf();
  EXPECT_EQ(text, kept.str()) << path << ": if the new text is right, BULKHEAD_UPDATE_GOLDEN=1";
}

}  // namespace bulkhead
