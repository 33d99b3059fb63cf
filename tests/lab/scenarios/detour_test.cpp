// A host with a leg in each of two tenants' segments: read back, and asked to forward.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab_fixture.h"
#include "scenarios/audit.h"

namespace bulkhead::scenarios {
namespace {

using probes::Finding;
using ::testing::Each;
using ::testing::HasSubstr;

// two-tenants, and a host between red and blue.
const compiler::Site& site_with_a_host_between() {
  static const compiler::Site site = [] {
    using namespace std::chrono_literals;
    const auto folder =
        policy::folder_reader(std::string(BULKHEAD_SOURCE_DIR) + "/scenarios/two-tenants");
    return compiler::load_site(
        [folder](const std::string& path) -> Result<std::string> {
          auto text = folder(path);
          if (text && path == "inventory.toml")
            *text +=
                "[host.between]\nforwards = false\n"
                "nic.eth0 = { segment = \"red\", v4 = \"10.1.0.77\", v6 = \"fd00:1::77\" }\n"
                "nic.eth1 = { segment = \"blue\", v4 = \"10.2.0.77\", v6 = \"fd00:2::77\" }\n";
          return text;
        },
        2026y / 11 / 30);
  }();
  EXPECT_TRUE(site.ok()) << render(site.diagnostics, site.sources, false);
  return site;
}

class DetourTest : public testing::LabTest {
 protected:
  // The reasons of the probes through a host, by finding; fails where a plain one does not conform.
  static std::multimap<Finding, std::string> run(std::string sysctl) {
    const compiler::Site& site = site_with_a_host_between();
    AuditOptions options;
    options.agent_program = std::string(BULKHEAD_BINARY_DIR) + "/bin/bulkhead-agent";
    const auto cls = [&](const char* name) {
      const auto& universe = site.matrix.universe;
      return static_cast<policy::ClassId>(universe.find(name) - universe.classes.data());
    };
    for (const char* from : {"red", "blue"}) {
      for (const char* to : {"red", "blue"})
        options.cells.emplace_back(cls(from), cls(to));
    }
    options.before_probing = [&](Lab& lab) -> Status {
      const auto done = lab.exec("between", {"sysctl", "-qw", sysctl});
      if (!done || *done != 0)
        return fail(ErrorKind::Environment, "cannot set " + sysctl);
      return {};
    };
    std::multimap<Finding, std::string> found;
    const auto result = audit(site, options);
    EXPECT_TRUE(result) << result.error().message;
    for (std::size_t i = 0; result && i < result->plan.probes.size(); ++i) {
      const auto& verdict = result->outcome.verdicts[i];
      const compiler::Probe& probe = result->plan.probes[i];
      // Other frames are sent by the same means; they are no detour.
      if (probe.rule == "forwards")
        found.emplace(verdict.finding, verdict.reason);
      else
        EXPECT_EQ(verdict.finding, Finding::Conforms) << verdict.reason;
    }
    return found;
  }
};

TEST_F(DetourTest, AHostThatForwardsNothingConforms) {
  const auto found = run("net.ipv4.ip_forward=0");
  EXPECT_EQ(found.count(Finding::Conforms), 4U) << (found.empty() ? "" : found.rbegin()->second);
}

TEST_F(DetourTest, AHostThatForwardsOneFamilyIsALeakInThatFamily) {
  const auto found = run("net.ipv6.conf.all.forwarding=1");
  EXPECT_EQ(found.count(Finding::Conforms), 2U);
  EXPECT_EQ(found.count(Finding::Leak), 2U);
  for (const auto& [finding, reason] : found) {
    EXPECT_THAT(reason, HasSubstr("through between, around every enforcer"));
    EXPECT_THAT(reason, HasSubstr(finding == Finding::Leak ? "fd00:" : "10."));
  }
}

}  // namespace
}  // namespace bulkhead::scenarios
