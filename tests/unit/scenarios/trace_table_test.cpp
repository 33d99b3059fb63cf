#include "enforcement/trace_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bulkhead::enforcement {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TracedTuple tuple(std::uint8_t protocol, const char* from, std::uint16_t sport, const char* to,
                  std::uint16_t port) {
  return {protocol, *Address::parse(from), sport, *Address::parse(to), port};
}

TEST(TraceTable, ReplacesItselfInOneTransaction) {
  EXPECT_TRUE(trace_table_text({}).starts_with(trace_table_removal()));
  EXPECT_THAT(trace_table_text({}), Not(HasSubstr("elements")));
}

TEST(TraceTable, HoldsExactTuplesOnce) {
  const std::string text = trace_table_text({tuple(6, "10.1.0.11", 40000, "10.2.0.11", 22),
                                             tuple(6, "10.1.0.11", 40000, "10.2.0.11", 22),
                                             tuple(17, "fd00:1::11", 40001, "fd00:2::11", 53),
                                             tuple(1, "10.1.0.11", 77, "10.2.0.11", 1)});
  EXPECT_THAT(text, HasSubstr("\t\t\t10.1.0.11 . 10.2.0.11 . 6 . 40000 . 22,\n\t\t}"));
  EXPECT_THAT(text, HasSubstr("fd00:1::11 . fd00:2::11 . 17 . 40001 . 53"));
  EXPECT_THAT(text, HasSubstr("10.1.0.11 . 10.2.0.11 . 77,"));
}

}  // namespace
}  // namespace bulkhead::enforcement
