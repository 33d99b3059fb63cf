// What the emitted rules do to packets, on the kernel that forwards them.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstring>

#include "pod.h"
#include "policy/support/handle.h"

namespace bulkhead::test {
namespace {

class NftablesTraffic : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto missing = missing_for_lab(); !missing.empty())
      GTEST_SKIP() << missing;
  }
};

struct Endpoint {
  explicit Endpoint(const std::string& text, std::uint16_t port) {
    if (text.find(':') == std::string::npos) {
      auto* v4 = reinterpret_cast<sockaddr_in*>(&storage);
      v4->sin_family = AF_INET;
      v4->sin_port = htons(port);
      ::inet_pton(AF_INET, text.c_str(), &v4->sin_addr);
      size = sizeof *v4;
    } else {
      auto* v6 = reinterpret_cast<sockaddr_in6*>(&storage);
      v6->sin6_family = AF_INET6;
      v6->sin6_port = htons(port);
      ::inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr);
      size = sizeof *v6;
    }
  }
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr_storage storage{};
  socklen_t size = 0;
};

bool ready(int socket, short events) {
  pollfd wait{socket, events, 0};
  return ::poll(&wait, 1, 700) > 0 && (wait.revents & events) != 0;
}

// A whole TCP connection with a word each way, by the kernels' own stacks.
bool converses(const Pod& pod, const std::string& from, const std::string& to,
               const std::string& address, std::uint16_t port) {
  const Endpoint at(address, port);
  UniqueFd listener;
  inside(pod.net.netns(to), [&] {
    listener = UniqueFd(::socket(at.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(listener.get(), at.get(), at.size), 0) << std::strerror(errno);
    ASSERT_EQ(::listen(listener.get(), 4), 0);
  });
  bool heard = false;
  inside(pod.net.netns(from), [&] {
    const UniqueFd dialer(
        ::socket(at.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    (void)::connect(dialer.get(), at.get(), at.size);
    if (!ready(listener.get(), POLLIN))
      return;
    const UniqueFd accepted(::accept(listener.get(), nullptr, nullptr));
    char byte = 0;
    heard = ::send(accepted.get(), "x", 1, MSG_NOSIGNAL) == 1 && ready(dialer.get(), POLLIN) &&
            ::recv(dialer.get(), &byte, 1, 0) == 1 && byte == 'x';
  });
  return heard;
}

// One UDP datagram of `size` bytes, in fragments where the link wants them.
bool datagram_arrives(const Pod& pod, const std::string& from, const std::string& to,
                      const std::string& address, std::uint16_t port, std::size_t size) {
  const Endpoint at(address, port);
  UniqueFd listener;
  inside(pod.net.netns(to), [&] {
    listener = UniqueFd(::socket(at.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(listener.get(), at.get(), at.size), 0) << std::strerror(errno);
  });
  inside(pod.net.netns(from), [&] {
    const UniqueFd sender(::socket(at.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const std::string payload(size, 'b');
    (void)::sendto(sender.get(), payload.data(), payload.size(), 0, at.get(), at.size);
  });
  std::string got(65536, '\0');
  return ready(listener.get(), POLLIN) &&
         ::recv(listener.get(), got.data(), got.size(), 0) == static_cast<ssize_t>(size);
}

// E20: a name of both families is both families; E16: ports of two protocols are two cells.
TEST_F(NftablesTraffic, PassesExactlyWhatIsAllowed) {
  const Pod pod("exact", pod_sketch()
                             .allow("F1", "red.compute", "blue.compute", {tcp(22), icmp("echo")})
                             .allow("F2", "red.compute", "stor.nfs", {tcp(53), udp(53)})
                             .allow("F3", "blue.compute", "stor.nfs", {tcp(53)})
                             .deny("F4", "blue.compute", "stor.nfs", {udp(53)}));
  ASSERT_EQ(pod.wrong, "");
  EXPECT_TRUE(pod.passes("red", "blue", tcp_syn("10.1.0.11", "10.2.0.11", 22)));
  EXPECT_TRUE(pod.passes("red", "blue", tcp_syn("10.1.0.12", "10.2.0.11", 22)));
  EXPECT_TRUE(pod.passes("red", "blue", tcp_syn("fd00:1::11", "fd00:2::11", 22)));
  EXPECT_FALSE(pod.passes("red", "blue", tcp_syn("10.1.0.11", "10.2.0.11", 23)));
  EXPECT_FALSE(pod.passes("red", "blue", tcp_syn("fd00:1::11", "fd00:2::11", 21)));
  EXPECT_FALSE(pod.passes("red", "blue", udp_packet("10.1.0.11", "10.2.0.11", 22)));
  EXPECT_FALSE(pod.passes("blue", "red", tcp_syn("10.2.0.11", "10.1.0.11", 22)));
  EXPECT_TRUE(pod.passes("red", "blue", echo_request("10.1.0.11", "10.2.0.11")));
  EXPECT_TRUE(pod.passes("red", "blue", echo_request("fd00:1::11", "fd00:2::11")));
  EXPECT_FALSE(pod.passes("blue", "red", echo_request("10.2.0.11", "10.1.0.12")));

  EXPECT_TRUE(pod.passes("red", "stor", tcp_syn("10.1.0.11", "10.3.0.11", 53)));
  EXPECT_TRUE(pod.passes("red", "stor", udp_packet("10.1.0.11", "10.3.0.11", 53)));
  EXPECT_TRUE(pod.passes("blue", "stor", tcp_syn("10.2.0.11", "10.3.0.11", 53)));
  EXPECT_FALSE(pod.passes("blue", "stor", udp_packet("10.2.0.11", "10.3.0.11", 53)));
  // E14: the deny is no silent no-op; its own counter saw the packet.
  EXPECT_NE(pod.listed("comment \"F4\"").find("counter packets 1 "), std::string::npos);
}

TEST_F(NftablesTraffic, RepliesPassAndNothingElseBackwards) {  // A24
  const Pod pod("reply",
                pod_sketch().allow("F1", "red.compute", "blue.compute", {tcp(80), udp(53)}));
  ASSERT_EQ(pod.wrong, "");
  EXPECT_TRUE(converses(pod, "red", "blue", "10.2.0.11", 80));
  EXPECT_TRUE(converses(pod, "red", "blue", "fd00:2::11", 80));
  EXPECT_FALSE(converses(pod, "blue", "red", "10.1.0.11", 80));
  EXPECT_FALSE(pod.passes("blue", "red", udp_packet("10.2.0.11", "10.1.0.11", 40000, 53)));
  EXPECT_TRUE(pod.passes("red", "blue", udp_packet("10.1.0.11", "10.2.0.11", 53)));
  EXPECT_TRUE(pod.passes("blue", "red", udp_packet("10.2.0.11", "10.1.0.11", 40000, 53)));
  EXPECT_FALSE(pod.passes("blue", "red", udp_packet("10.2.0.11", "10.1.0.11", 40001, 53)));
}

TEST_F(NftablesTraffic, AForgedSourceDoesNotRideOnState) {
  const Pod pod("forged", pod_sketch().allow("F1", "red.compute", "blue.compute", {udp(53)}));
  ASSERT_EQ(pod.wrong, "");
  const Packet answer = udp_packet("10.2.0.11", "10.1.0.11", 40000, 53);
  ASSERT_TRUE(pod.passes("red", "blue", udp_packet("10.1.0.11", "10.2.0.11", 53)));
  ASSERT_TRUE(pod.passes("blue", "red", answer));
  EXPECT_FALSE(pod.passes("stor", "red", answer)) << "blue's address, from stor's leg";
  EXPECT_FALSE(pod.passes("stor", "blue", udp_packet("10.1.0.11", "10.2.0.11", 53)));
  EXPECT_FALSE(pod.passes("red", "blue", udp_packet("10.1.0.99", "10.2.0.11", 53)))
      << "an address that nobody holds";
  EXPECT_FALSE(pod.passes("red", "blue", udp_packet("10.2.0.1", "10.2.0.11", 53)))
      << "the enforcer's own address";
}

TEST_F(NftablesTraffic, ARouteToAnotherLegIsNoWayRound) {
  const Pod pod("egress", pod_sketch().allow("F1", "red.compute", "blue.compute", {udp(53)}));
  ASSERT_EQ(pod.wrong, "");
  const Packet packet = udp_packet("10.1.0.11", "10.2.0.11", 53);
  ASSERT_TRUE(pod.passes("red", "blue", packet));
  ASSERT_EQ(pod.net.run("fw", "ip route add 10.2.0.11/32 via 10.3.0.11 dev stor0"), 0);
  EXPECT_FALSE(pod.passes("red", "stor", packet));
  EXPECT_NE(pod.listed("drops_red_compute").size(), 0U);
}

TEST_F(NftablesTraffic, ErrorsOfAllowedFlowsComeBack) {
  const Pod pod("error", pod_sketch().allow("F1", "red.compute", "blue.compute", {udp(53)}));
  ASSERT_EQ(pod.wrong, "");
  const auto unreachable = [](const Packet& about) {
    Packet error;
    error.from = about.to;
    error.to = about.from;
    const bool v6 = about.from.find(':') != std::string::npos;
    error.protocol = v6 ? 58 : 1;
    error.icmp_type = v6 ? 1 : 3;
    error.payload = std::string(4, '\0') + bytes_of(about);
    return error;
  };
  const Packet v4 = udp_packet("10.1.0.11", "10.2.0.11", 53);
  const Packet v6 = udp_packet("fd00:1::11", "fd00:2::11", 53);
  EXPECT_FALSE(pod.passes("blue", "red", unreachable(v4))) << "of a flow that was not";
  ASSERT_TRUE(pod.passes("red", "blue", v4));
  ASSERT_TRUE(pod.passes("red", "blue", v6));
  EXPECT_TRUE(pod.passes("blue", "red", unreachable(v4)));
  EXPECT_TRUE(pod.passes("blue", "red", unreachable(v6)));
  EXPECT_FALSE(pod.passes("stor", "red", unreachable(v4)));
}

TEST_F(NftablesTraffic, NeighboursAreFoundAfterAFlush) {  // A09
  const Pod pod("nd", pod_sketch().allow("F1", "red.compute", "blue.compute", {tcp(80)}));
  ASSERT_EQ(pod.wrong, "");
  for (const char* host : {"fw", "red", "blue"})
    pod.net.run(host, "ip neigh flush all; ip -6 neigh flush all");
  EXPECT_TRUE(converses(pod, "red", "blue", "fd00:2::11", 80));
  EXPECT_TRUE(converses(pod, "red", "blue", "10.2.0.11", 80));
}

TEST_F(NftablesTraffic, ExtensionHeadersHideNothing) {  // A11
  const Pod pod("ext",
                pod_sketch().allow("F1", "red.compute", "blue.compute", {udp(53), icmp("echo")}));
  ASSERT_EQ(pod.wrong, "");
  Packet allowed = udp_packet("fd00:1::11", "fd00:2::11", 53);
  Packet denied = udp_packet("fd00:1::11", "fd00:2::11", 54);
  Packet echo = echo_request("fd00:1::11", "fd00:2::11");
  allowed.extension_header = denied.extension_header = echo.extension_header = true;
  EXPECT_TRUE(pod.passes("red", "blue", allowed));
  EXPECT_TRUE(pod.passes("red", "blue", echo));
  EXPECT_FALSE(pod.passes("red", "blue", denied));
}

TEST_F(NftablesTraffic, LargeDatagramsAreJudgedWhole) {  // A13
  const Pod pod("frag", pod_sketch().allow("F1", "red.compute", "blue.compute", {udp(53)}));
  ASSERT_EQ(pod.wrong, "");
  EXPECT_TRUE(datagram_arrives(pod, "red", "blue", "10.2.0.11", 53, 4000));
  EXPECT_TRUE(datagram_arrives(pod, "red", "blue", "fd00:2::11", 53, 4000));
  EXPECT_FALSE(datagram_arrives(pod, "red", "blue", "10.2.0.11", 54, 4000));
  EXPECT_FALSE(datagram_arrives(pod, "red", "blue", "fd00:2::11", 54, 4000));
}

TEST_F(NftablesTraffic, ManyPortsAreAMapAndMeanTheSame) {
  Sketch sketch = pod_sketch();
  for (std::uint16_t n = 0; n < 20; ++n)
    sketch.allow("P" + std::to_string(n), "red.compute", "blue.compute",
                 {udp(static_cast<std::uint16_t>(1000 + 10 * n),
                      static_cast<std::uint16_t>(1003 + 10 * n))});
  sketch.deny("D", "red.compute", "blue.compute", {tcp(1000)});
  const Pod pod("map", sketch);
  ASSERT_EQ(pod.wrong, "");
  EXPECT_TRUE(pod.passes("red", "blue", udp_packet("10.1.0.11", "10.2.0.11", 1000)));
  EXPECT_TRUE(pod.passes("red", "blue", udp_packet("fd00:1::11", "fd00:2::11", 1193)));
  EXPECT_FALSE(pod.passes("red", "blue", udp_packet("10.1.0.11", "10.2.0.11", 1004)));
  EXPECT_FALSE(pod.passes("red", "blue", udp_packet("10.1.0.11", "10.2.0.11", 999)));
  EXPECT_FALSE(pod.passes("red", "blue", tcp_syn("10.1.0.11", "10.2.0.11", 1000)));
  EXPECT_NE(pod.listed("comment \"D\"").find("packets 1 "), std::string::npos);
}

TEST_F(NftablesTraffic, AFamilyWithoutMembersHasNoRule) {  // E02
  const std::string text =
      pod_sketch().allow("F1", "stor.nfs", "blue.compute", {udp(33434, 33534)}).nft();
  EXPECT_EQ(text.find("s6_stor0"), std::string::npos);
  EXPECT_EQ(text.find("d6_stor"), std::string::npos);
  const Pod pod("family", pod_sketch().allow("F1", "stor.nfs", "blue.compute", {udp(33434)}));
  ASSERT_EQ(pod.wrong, "");
  EXPECT_TRUE(pod.passes("stor", "blue", udp_packet("10.3.0.11", "10.2.0.11", 33434)));
  EXPECT_FALSE(pod.passes("stor", "blue", udp_packet("fd00:3::11", "fd00:2::11", 33434)));
}

}  // namespace
}  // namespace bulkhead::test
