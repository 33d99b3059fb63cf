// What stands on an enforcer beside our table: another owner's nat, the kernel's own filter, and
// how our rules go with them.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "pod.h"

namespace bulkhead::test {
namespace {

class NftablesAmongOthers : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto missing = missing_for_lab(); !missing.empty())
      GTEST_SKIP() << missing;
  }
};

// Packets that the rule with this comment has counted.
std::string counted(const Pod& pod, const std::string& comment) {
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const std::string line = pod.listed("comment \"" + comment + "\"");
  const auto at = line.find("packets ");
  return at == std::string::npos ? line : line.substr(at + 8, line.find(' ', at + 8) - at - 8);
}

constexpr const char* kNat =
    "table ip nat {\n chain pre {\n  type nat hook prerouting priority dstnat;\n"
    "  ip daddr 10.1.0.1 tcp dport 8080 dnat to 10.2.0.11:80\n }\n}\n";

// A04: flows mean the real destination, after nat. A rule about the published port meets nothing.
TEST_F(NftablesAmongOthers, A04_APublishedPortIsJudgedByWhatItLeadsTo) {
  const Pod pod("nat", pod_sketch()
                           .allow("REAL", "red.compute", "blue.compute", {tcp(80)})
                           .deny("PUBLISHED", "red.compute", "enforcer:fw", {tcp(8080)}));
  ASSERT_EQ(pod.wrong, "");
  ASSERT_EQ(pod.net.load(kNat), "");
  pod.net.send("red", tcp_syn("10.1.0.11", "10.1.0.1", 8080));
  EXPECT_EQ(counted(pod, "REAL"), "1");
  EXPECT_EQ(counted(pod, "PUBLISHED"), "0");
}

TEST_F(NftablesAmongOthers, A04_AllowingThePublishedPortDoesNotOpenTheRealOne) {
  const Pod pod("nat-shut",
                pod_sketch().allow("PUBLISHED", "red.compute", "blue.compute", {tcp(8080)}));
  ASSERT_EQ(pod.wrong, "");
  ASSERT_EQ(pod.net.load(kNat), "");
  pod.net.send("red", tcp_syn("10.1.0.11", "10.1.0.1", 8080));
  EXPECT_EQ(counted(pod, "PUBLISHED"), "0");
  EXPECT_NE(pod.listed("counter drops_red_compute").find("drops_red_compute"), std::string::npos);
}

// A strict reverse-path filter drops before forward: our rule never sees the packet, and so is
// not the one to be named.
TEST_F(NftablesAmongOthers, B14_TheReversePathFilterIsNotOurRule) {
  const Pod pod("rpf", pod_sketch());
  ASSERT_EQ(pod.wrong, "");
  // Comes from red's link with an address that the routes know behind blue's.
  const Packet forged = udp_packet("10.2.0.11", "10.3.0.11", 53);
  const auto spoofed = [&](const std::string& all, const std::string& leg) {
    pod.net.run("fw", "sysctl -qw net.ipv4.conf.all.rp_filter=" + all +
                          " net.ipv4.conf.red0.rp_filter=" + leg);
    const std::string before = pod.net.output("fw", "nft list chain inet bulkhead l_red0");
    pod.net.send("red", forged);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return pod.net.output("fw", "nft list chain inet bulkhead l_red0") != before;
  };
  EXPECT_TRUE(spoofed("0", "0")) << "the anti-spoofing rule counted it";
  EXPECT_FALSE(spoofed("0", "1"));
  EXPECT_FALSE(spoofed("1", "0")) << "the greater of the two is in force";
  EXPECT_TRUE(spoofed("2", "1")) << "loose";
}

}  // namespace
}  // namespace bulkhead::test
