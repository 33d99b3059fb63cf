// A verifier that misses a change is worth nothing: the compiled ruleset is damaged at random, and
// where an independent oracle sees that the kernel now decides otherwise on the plan's own packets,
// the audit must have noticed.
#include <gtest/gtest.h>

#include <cstdlib>

#include "../scenarios/lab_fixture.h"
#include "mutate.h"
#include "raw_packets.h"
#include "scenarios/audit.h"

namespace bulkhead::testing {
namespace {

using scenarios::AuditOptions;
using scenarios::Lab;
using scenarios::Rulesets;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

bool noticed(const scenarios::AuditResult& result) {
  for (const auto& verdict : result.outcome.verdicts)
    if (verdict.finding != probes::Finding::Conforms)
      return true;
  return !result.outcome.findings.empty();
}

class MutationTest : public LabTest {};

TEST_F(MutationTest, WhatTheKernelDecidesOtherwiseTheAuditNotices) {
  const std::uint64_t seed = from_environment("BULKHEAD_SEED", std::random_device{}());
  const std::uint64_t wanted = from_environment("BULKHEAD_MUTATIONS", 5);
  std::cout << "seed " << seed << " (BULKHEAD_SEED), " << wanted
            << " mutations that decide otherwise (BULKHEAD_MUTATIONS)\n";
  std::mt19937_64 random(seed);

  const auto artifacts = compiler::compile(site(), {});
  const auto plan = compiler::probes_of(artifacts.probes);
  const std::string rules = scenarios::rulesets(artifacts).at(0).second;
  auto lab = Lab::up(site(), {});
  ASSERT_TRUE(lab) << lab.error().message;
  ASSERT_TRUE((*lab)->load_rules({{"fw", rules}}));
  const auto intact = packets_that_arrive(**lab, plan);
  for (std::size_t i = 0; i < intact.size(); ++i)
    ASSERT_EQ(intact[i], plan.probes[i].expect == compiler::Expect::Allow)
        << "the oracle disagrees about " << plan.probes[i].id;

  std::uint64_t different = 0;
  for (int attempt = 0; different < wanted && attempt < 400; ++attempt) {
    const auto mutation = mutate(rules, random);
    if (!mutation || !(*lab)->load_rules({{"fw", mutation->text}}))
      continue;  // no such damage here, or nft itself refuses it
    if (packets_that_arrive(**lab, plan) == intact)
      continue;
    ++different;
    AuditOptions options;
    options.agent_program = std::string(BULKHEAD_BINARY_DIR) + "/bin/bulkhead-agent";
    options.edit_rules = [&](Rulesets& rulesets) -> Status {
      rulesets.at(0).second = mutation->text;
      return {};
    };
    const auto result = audit(site(), options);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_TRUE(noticed(*result)) << "seed " << seed << ", " << mutation->story;
    std::cout << mutation->story << '\n';
  }
  EXPECT_EQ(different, wanted);
}

}  // namespace
}  // namespace bulkhead::testing
