#include <gtest/gtest.h>

#include <algorithm>

#include "golden.h"
#include "nft_cases.h"

namespace bulkhead::test {

class NftablesGolden : public testing::TestWithParam<NftCase> {};

TEST_P(NftablesGolden, IsAsReviewed) {
  const std::string text = GetParam().sketch().nft();
  expect_golden("nftables/" + GetParam().name + ".nft", text);
}

TEST_P(NftablesGolden, IsTheSameTwice) {
  EXPECT_EQ(GetParam().sketch().nft(), GetParam().sketch().nft());
}

INSTANTIATE_TEST_SUITE_P(Sites, NftablesGolden, testing::ValuesIn(nft_cases()),
                         [](const auto& site) {
                           std::string name = site.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace bulkhead::test
