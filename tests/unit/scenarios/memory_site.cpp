#include "memory_site.h"

#include <gtest/gtest.h>

namespace bulkhead::testing {

compiler::Site memory_site(const std::string& policy, const std::string& inventory) {
  const std::map<std::string, std::string> files = {{"policy.toml", policy},
                                                    {"inventory.toml", inventory}};
  const auto read = [&](const std::string& path) -> Result<std::string> {
    const auto file = files.find(path);
    if (file == files.end())
      return fail(ErrorKind::Environment, "no file " + path);
    return file->second;
  };
  using namespace std::chrono_literals;
  compiler::Site site = compiler::load_site(read, 2026y / 11 / 30);
  EXPECT_TRUE(site.ok()) << render(site.diagnostics, site.sources, false);
  return site;
}

}  // namespace bulkhead::testing
