#include "compiler/site.h"
#include "tests/golden/golden.h"

namespace bulkhead {
namespace {

// Everything that is wrong with a site, in one run, as its author sees it.
TEST(Golden, Diagnostics) {
  const auto site =
      compiler::load_site(policy::folder_reader(BULKHEAD_SOURCE_DIR "/tests/golden/diagnostics"),
                          *policy::parse_date("2026-12-01"));
  expect_golden("diagnostics.txt", render(site.diagnostics, site.sources, false));
}

}  // namespace
}  // namespace bulkhead
