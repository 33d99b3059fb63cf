// Tests that build labs: skipped, with the reason, where that is not possible; namespaces of these
// tests are removed before and after.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "compiler/site.h"
#include "scenarios/lab.h"
#include "scenarios/lab_state.h"

namespace bulkhead::testing {

// Names under /run/netns of a run of two-tenants.
inline std::vector<std::string> netns_of_lab(const std::string& run) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/run/netns", error))
    if (entry.path().filename().string().starts_with("bh-two-tenants-" + run + "-"))
      names.push_back(entry.path().filename());
  return names;
}

inline compiler::Site scenario_site(const std::string& name) {
  using namespace std::chrono_literals;
  compiler::Site site = compiler::load_site(
      std::filesystem::path(BULKHEAD_SOURCE_DIR) / "scenarios" / name, 2026y / 11 / 30);
  EXPECT_TRUE(site.ok()) << render(site.diagnostics, site.sources, false);
  return site;
}

class LabTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const Status able = scenarios::check_environment(); !able)
      GTEST_SKIP() << able.error().message;
    ASSERT_TRUE(scenarios::Lab::sweep());
  }
  void TearDown() override { static_cast<void>(scenarios::Lab::sweep()); }

  static const compiler::Site& site() {
    static const compiler::Site two_tenants = scenario_site("two-tenants");
    return two_tenants;
  }
};

}  // namespace bulkhead::testing
