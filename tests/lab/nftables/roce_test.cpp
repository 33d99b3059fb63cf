// RoCEv2 one way only: requests against the direction never arrive, what answers does.
#include <gtest/gtest.h>

#include "pod.h"

namespace bulkhead::test {
namespace {

// BTH, and for management datagrams DETH and the head of a MAD.
std::string bth(std::uint8_t opcode, std::uint32_t queue_pair = 0x12) {
  std::string out(12, '\0');
  out[0] = static_cast<char>(opcode);
  out[2] = out[3] = '\xff';
  out[5] = static_cast<char>(queue_pair >> 16);
  out[6] = static_cast<char>((queue_pair >> 8) & 0xff);
  out[7] = static_cast<char>(queue_pair & 0xff);
  return out + std::string(36, '\0');
}
std::string management(std::uint16_t attribute, std::uint32_t queue_pair = 1,
                       std::uint8_t management_class = 7) {
  std::string out = bth(0x64, queue_pair);
  out[12 + 8] = 1;
  out[12 + 8 + 1] = static_cast<char>(management_class);
  out[12 + 8 + 16] = static_cast<char>(attribute >> 8);
  out[12 + 8 + 17] = static_cast<char>(attribute & 0xff);
  return out;
}

class NftablesRoce : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto missing = missing_for_lab(); !missing.empty())
      GTEST_SKIP() << missing;
  }
};

Packet roce_packet(const std::string& from, const std::string& to, const std::string& payload,
                   std::uint16_t sport = 49152) {
  Packet packet = udp_packet(from, to, 4791, sport);
  packet.payload = payload;
  return packet;
}

TEST_F(NftablesRoce, OneWay) {
  const Pod pod("roce", pod_sketch()
                            .allow("R1", "red.compute", "blue.compute", {roce(), udp(53)})
                            .deny("R2", "stor.nfs", "red.compute", {roce()}));
  ASSERT_EQ(pod.wrong, "");
  const auto forth = [&](const std::string& payload, std::uint16_t sport = 49152) {
    return pod.passes("red", "blue", roce_packet("10.1.0.11", "10.2.0.11", payload, sport)) &&
           pod.passes("red", "blue", roce_packet("fd00:1::11", "fd00:2::11", payload, sport));
  };
  const auto back = [&](const std::string& payload, std::uint16_t sport = 50000) {
    return pod.passes("blue", "red", roce_packet("10.2.0.11", "10.1.0.11", payload, sport)) ||
           pod.passes("blue", "red", roce_packet("fd00:2::11", "fd00:1::11", payload, sport));
  };
  // SEND, WRITE, READ request, atomics, UC and UD sends, and management of any kind.
  for (const int opcode : {0x00, 0x04, 0x0a, 0x0c, 0x13, 0x17, 0x24, 0x64, 0x81})
    EXPECT_TRUE(forth(bth(static_cast<std::uint8_t>(opcode)))) << opcode;
  EXPECT_TRUE(forth(management(0x10)));
  EXPECT_TRUE(forth(bth(0x04), 4791));
  // The same against the direction, also from 4791 itself, where conntrack sees a reply.
  for (const int opcode : {0x00, 0x04, 0x0a, 0x0c, 0x13, 0x14, 0x17, 0x24, 0x64})
    EXPECT_FALSE(back(bth(static_cast<std::uint8_t>(opcode)))) << opcode;
  EXPECT_FALSE(back(bth(0x04), 4791));
  for (const int opcode : {0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12, 0x81})
    EXPECT_TRUE(back(bth(static_cast<std::uint8_t>(opcode)))) << opcode;
  // Connection management: REP and its like answer; REQ, SIDR_REQ and LAP ask.
  for (const int attribute : {0x11, 0x12, 0x13, 0x15, 0x16, 0x18, 0x1a})
    EXPECT_TRUE(back(management(static_cast<std::uint16_t>(attribute)))) << attribute;
  for (const int attribute : {0x10, 0x17, 0x19, 0x14, 0x01})
    EXPECT_FALSE(back(management(static_cast<std::uint16_t>(attribute)))) << attribute;
  EXPECT_FALSE(back(management(0x13, 5))) << "not the management queue pair";
  EXPECT_FALSE(back(management(0x13, 1, 1))) << "not connection management";
  // XRC has no direction of its own.
  EXPECT_FALSE(forth(bth(0xa4)));
  // Others of the pod have no RoCE at all; a deny is counted by its id.
  EXPECT_FALSE(pod.passes("stor", "red", roce_packet("10.3.0.11", "10.1.0.11", bth(0x04))));
  EXPECT_NE(pod.listed("comment \"R2\"").find("packets 1 "), std::string::npos);
  EXPECT_FALSE(pod.passes("stor", "blue", roce_packet("10.3.0.11", "10.2.0.11", bth(0x11))));
}

// No RoCE is allowed between the two, but a flow from source port 4791 is: conntrack would take
// RoCE requests against it for its replies.
TEST_F(NftablesRoce, IsNoReplyToAFlowFromItsPort) {
  const Pod pod("roce-reply", pod_sketch().allow("U1", "red.compute", "blue.compute", {udp(53)}));
  ASSERT_EQ(pod.wrong, "");
  const auto ask = [&](std::uint16_t sport) {
    return pod.passes("red", "blue", udp_packet("10.1.0.11", "10.2.0.11", 53, sport)) &&
           pod.passes("red", "blue", udp_packet("fd00:1::11", "fd00:2::11", 53, sport));
  };
  const auto answer = [&](std::uint16_t dport) {
    Packet v4 = udp_packet("10.2.0.11", "10.1.0.11", dport, 53);
    Packet v6 = udp_packet("fd00:2::11", "fd00:1::11", dport, 53);
    v4.payload = v6.payload = bth(0x04);
    return std::pair(pod.passes("blue", "red", v4), pod.passes("blue", "red", v6));
  };
  ASSERT_TRUE(ask(40000));
  EXPECT_EQ(answer(40000), std::pair(true, true)) << "replies do pass";
  ASSERT_TRUE(ask(4791));
  EXPECT_EQ(answer(4791), std::pair(false, false));
}

}  // namespace
}  // namespace bulkhead::test
