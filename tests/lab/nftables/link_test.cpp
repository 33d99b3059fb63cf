// The enforcer as an end of traffic: what reaches it, what it may send, what links need.
#include <gtest/gtest.h>

#include "pod.h"

namespace bulkhead::test {
namespace {

class NftablesLink : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto missing = missing_for_lab(); !missing.empty())
      GTEST_SKIP() << missing;
  }
};

Packet of_protocol(std::uint8_t protocol, const std::string& from, const std::string& to) {
  Packet packet;
  packet.protocol = protocol;
  packet.from = from;
  packet.to = to;
  packet.hop_limit = 255;
  packet.payload = "bulkhead";
  return packet;
}

TEST_F(NftablesLink, TheEnforcerIsAClass) {
  const Pod pod("self", pod_sketch()
                            .allow("E1", "red.compute", "enforcer:fw", {tcp(22), icmp("echo")})
                            .allow("E2", "enforcer:fw", "stor.nfs", {udp(123)}));
  ASSERT_EQ(pod.wrong, "");
  EXPECT_TRUE(pod.net.reaches_input("red", tcp_syn("10.1.0.11", "10.1.0.1", 22)));
  EXPECT_TRUE(pod.net.reaches_input("red", tcp_syn("10.1.0.11", "10.2.0.1", 22)));
  EXPECT_TRUE(pod.net.reaches_input("red", tcp_syn("fd00:1::11", "fd00:1::1", 22)));
  EXPECT_TRUE(pod.net.reaches_input("red", echo_request("fd00:1::11", "fd00:1::1")));
  EXPECT_FALSE(pod.net.reaches_input("red", tcp_syn("10.1.0.11", "10.1.0.1", 23)));
  EXPECT_FALSE(pod.net.reaches_input("red", tcp_syn("10.1.0.99", "10.1.0.1", 22)));
  EXPECT_FALSE(pod.net.reaches_input("blue", tcp_syn("10.2.0.11", "10.2.0.1", 22)));
  EXPECT_FALSE(pod.net.reaches_input("blue", tcp_syn("10.1.0.11", "10.1.0.1", 22)));
  EXPECT_TRUE(pod.net.leaves("stor", udp_packet("10.3.0.1", "10.3.0.11", 123)));
  EXPECT_FALSE(pod.net.leaves("stor", udp_packet("10.3.0.1", "10.3.0.11", 124)));
  EXPECT_FALSE(pod.net.leaves("red", udp_packet("10.1.0.1", "10.1.0.11", 123)));
  EXPECT_FALSE(pod.net.leaves("stor", udp_packet("10.1.0.11", "10.3.0.11", 123)))
      << "not an address of the enforcer";
}

TEST_F(NftablesLink, MulticastOfAnIpProtocol) {
  const Pod pod("vrrp", pod_sketch()
                            .allow("E1", "red.compute", "enforcer:fw", {ip(112, "224.0.0.18")})
                            .allow("E2", "blue.compute", "enforcer:fw", {ip(89, "ff02::5")})
                            .allow("E3", "enforcer:fw", "red.compute", {ip(112, "224.0.0.18")}));
  ASSERT_EQ(pod.wrong, "");
  // The kernel hands up only groups that somebody joined.
  for (const char* leg : {"red0", "blue0"})
    ASSERT_EQ(
        pod.net.run("fw", "ip address add 224.0.0.18/32 dev " + std::string(leg) +
                              " autojoin && ip address add ff02::5/128 dev " + leg + " autojoin"),
        0);
  EXPECT_TRUE(pod.net.reaches_input("red", of_protocol(112, "10.1.0.11", "224.0.0.18")));
  EXPECT_FALSE(pod.net.reaches_input("red", of_protocol(89, "10.1.0.11", "224.0.0.18")));
  EXPECT_FALSE(pod.net.reaches_input("red", of_protocol(112, "10.1.0.11", "10.1.0.1")));
  EXPECT_FALSE(pod.net.reaches_input("blue", of_protocol(112, "10.2.0.11", "224.0.0.18")));
  EXPECT_TRUE(pod.net.reaches_input("blue", of_protocol(89, "fe80::b", "ff02::5")));
  EXPECT_FALSE(pod.net.reaches_input("red", of_protocol(89, "fe80::b", "ff02::5")));
  // As an address of its own the group would be routed to the enforcer itself.
  ASSERT_EQ(pod.net.run("fw",
                        "ip address del 224.0.0.18/32 dev red0; ip address del "
                        "224.0.0.18/32 dev blue0; ip route add 224.0.0.18/32 dev red0"),
            0);
  EXPECT_TRUE(pod.net.leaves("red", of_protocol(112, "10.1.0.1", "224.0.0.18")));
  EXPECT_FALSE(pod.net.leaves("red", of_protocol(103, "10.1.0.1", "224.0.0.18")));
}

TEST_F(NftablesLink, DhcpFromAClientWithoutAddress) {
  const Pod pod("dhcp", pod_sketch().allow("D1", "red.compute", "enforcer:fw", {dhcp()}));
  ASSERT_EQ(pod.wrong, "");
  const Packet discover = udp_packet("0.0.0.0", "255.255.255.255", 67, 68);
  EXPECT_TRUE(pod.net.reaches_input("red", discover));
  EXPECT_FALSE(pod.net.reaches_input("blue", discover));
  EXPECT_FALSE(pod.net.reaches_input("red", udp_packet("0.0.0.0", "255.255.255.255", 69, 68)));
  EXPECT_TRUE(pod.net.reaches_input("red", udp_packet("10.1.0.11", "10.1.0.1", 67, 68)));
}

TEST_F(NftablesLink, LoopbackIsNotReachedFromALink) {  // B12
  const Pod pod("local", pod_sketch().allow("E1", "red.compute", "enforcer:fw", {tcp(22)}));
  ASSERT_EQ(pod.wrong, "");
  pod.net.run("fw", "sysctl -qw net.ipv4.conf.all.route_localnet=1");
  EXPECT_FALSE(pod.net.reaches_input("red", tcp_syn("10.1.0.11", "127.0.0.1", 22)));
  ASSERT_EQ(pod.net.output("fw", "nft delete table inet bulkhead"), "");
  EXPECT_TRUE(pod.net.reaches_input("red", tcp_syn("10.1.0.11", "127.0.0.1", 22)))
      << "the rule is what stops it";
}

TEST_F(NftablesLink, NeighbourDiscoveryIsForNeighbours) {
  const Pod pod("ndp", pod_sketch());
  ASSERT_EQ(pod.wrong, "");
  Packet solicit = of_protocol(58, "fd00:1::11", "fd00:1::1");
  solicit.icmp_type = 135;
  solicit.payload =
      std::string(4, '\0') + std::string("\xfd\x00\x00\x01", 4) + std::string(11, '\0') + '\x01';
  EXPECT_TRUE(pod.net.reaches_input("red", solicit));
  solicit.hop_limit = 254;
  EXPECT_FALSE(pod.net.reaches_input("red", solicit)) << "came through a router";
  solicit.hop_limit = 255;
  solicit.from = "fd00:2::11";
  EXPECT_FALSE(pod.net.reaches_input("red", solicit)) << "an address of another link";
}

}  // namespace
}  // namespace bulkhead::test
