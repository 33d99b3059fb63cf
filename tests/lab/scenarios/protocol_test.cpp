// A service of a bare IP protocol, over a real path: what is allowed arrives, what is not is
// dropped by the rule that should.
#include <gtest/gtest.h>

#include "lab_fixture.h"
#include "scenarios/audit.h"

namespace bulkhead::scenarios {
namespace {

using compiler::Transport;
using probes::Finding;

// two-tenants, where red may tunnel to the filers by GRE.
const compiler::Site& site_with_a_tunnel() {
  static const compiler::Site site = [] {
    using namespace std::chrono_literals;
    const auto folder =
        policy::folder_reader(std::string(BULKHEAD_SOURCE_DIR) + "/scenarios/two-tenants");
    return compiler::load_site(
        [folder](const std::string& path) -> Result<std::string> {
          auto text = folder(path);
          if (text && path == "policy.toml")
            *text +=
                "[service.tunnel]\nip = [47]\n"
                "[[flow]]\nid = \"T1\"\nfrom = \"red\"\nto = \"storage\"\n"
                "services = [\"tunnel\"]\nwhy = \"for the test\"\n";
          return text;
        },
        2026y / 11 / 30);
  }();
  EXPECT_TRUE(site.ok()) << render(site.diagnostics, site.sources, false);
  return site;
}

class ProtocolTest : public testing::LabTest {};

TEST_F(ProtocolTest, AnAllowedProtocolIsDelivered) {
  const compiler::Site& site = site_with_a_tunnel();
  AuditOptions options;
  options.agent_program = std::string(BULKHEAD_BINARY_DIR) + "/bin/bulkhead-agent";
  const auto& universe = site.matrix.universe;
  options.cells = {{*universe.id_of("red"), *universe.id_of("storage")},
                   {*universe.id_of("blue"), *universe.id_of("storage")}};
  const auto result = audit(site, options);
  ASSERT_TRUE(result) << result.error().message;
  std::size_t allowed = 0, denied = 0;
  for (std::size_t i = 0; i < result->plan.probes.size(); ++i) {
    const compiler::Probe& probe = result->plan.probes[i];
    const probes::Verdict& verdict = result->outcome.verdicts[i];
    EXPECT_EQ(verdict.finding, Finding::Conforms) << verdict.reason;
    if (probe.transport != Transport::Raw || probe.port != 47)
      continue;
    const bool is_allowed = probe.expect == compiler::Expect::Allow;
    ++(is_allowed ? allowed : denied);
    EXPECT_EQ(verdict.kind, is_allowed ? "delivered" : "blocked") << verdict.reason;
  }
  EXPECT_EQ(allowed, 2U) << "one a family";
  EXPECT_EQ(denied, 2U) << "blue may not";
}

}  // namespace
}  // namespace bulkhead::scenarios
