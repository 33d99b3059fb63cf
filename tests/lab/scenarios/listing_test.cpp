// Interfaces in a file that is loaded here only to be read: by name they are those of the file, by
// number they are those of a machine that is not here.
#include <gtest/gtest.h>
#include <unistd.h>

#include "scenarios/listing.h"

namespace bulkhead::scenarios {
namespace {

using namespace compiler::proof;

TEST(Listing, InterfacesAreThoseOfTheFile) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "needs root";
  const auto listing =
      list_text("a file",
                "table inet t {\n set by_number { type iface_index; elements = { 3 "
                "}; }\nchain c {\n type filter hook forward priority 0;\n"
                "iif a0 accept\n iif 1 accept\n iif 2 accept\n iif { a0, 3 } accept\n"
                " iif @by_number accept\n oif != 2 accept\n}\n}\n",
                {"b0", "a0"});
  ASSERT_TRUE(listing) << listing.error().message;
  const auto ruleset = ruleset_of(*listing);
  ASSERT_TRUE(ruleset) << ruleset.error().message;
  const auto& rules = ruleset->chains.at(0).rules;
  ASSERT_EQ(rules.size(), 6U);
  const auto names = [&](std::size_t rule) {
    const auto* match = std::get_if<Match>(&rules[rule].statements.at(0));
    return match == nullptr ? "unknown" : name_of(match->ranges.at(0).first);
  };
  EXPECT_EQ(names(0), "a0");
  EXPECT_EQ(names(1), "lo") << "number 1 is lo everywhere";
  EXPECT_EQ(names(2), "unknown");
  EXPECT_EQ(names(3), "unknown");
  EXPECT_FALSE(ruleset->sets.at(0).unmodelled.empty());
  EXPECT_EQ(names(5), "unknown");
}

}  // namespace
}  // namespace bulkhead::scenarios
