// The operator's end of a channel, against peers that behave badly (case D05), and what a packet's
// first bytes are taken for.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "probes/child_process.h"
#include "probes/expectations.h"
#include "probes/fd_channel.h"
#include "probes/packet.h"

namespace bulkhead::probes {
namespace {

using namespace std::chrono_literals;

auto in(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

struct Ends {
  Ends() {
    std::array<int, 2> pair{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()), 0);
    channel = std::make_unique<FdChannel>(UniqueFd(pair[0]));
    peer = UniqueFd(pair[1]);
  }
  void say(std::string_view text) const {
    EXPECT_EQ(::write(peer.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  std::unique_ptr<FdChannel> channel;
  UniqueFd peer;
};

TEST(unit_probes_channel, LinesComeWholeAndInOrder) {
  const Ends ends;
  ends.say("one\ntw");
  EXPECT_EQ(ends.channel->receive(in(1s)).value(), "one");
  EXPECT_FALSE(ends.channel->has_line());
  EXPECT_EQ(ends.channel->receive(in(10ms)).error().kind, ErrorKind::Timeout);
  ends.say("o\n\nthree\n");
  EXPECT_EQ(ends.channel->receive(in(1s)).value(), "two");
  EXPECT_TRUE(ends.channel->has_line());
  EXPECT_EQ(ends.channel->receive(in(0ms)).value(), "");
  EXPECT_EQ(ends.channel->receive(in(0ms)).value(), "three");
}

TEST(unit_probes_channel, HalfALineIsNeverReturned) {
  Ends ends;
  ends.say("whole\nhalf");
  ends.peer.reset();
  EXPECT_EQ(ends.channel->receive(in(1s)).value(), "whole");
  const auto rest = ends.channel->receive(in(1s));
  ASSERT_FALSE(rest);
  EXPECT_EQ(rest.error().kind, ErrorKind::Environment);
  EXPECT_FALSE(ends.channel->send("hello"));
}

TEST(unit_probes_channel, TwoEndsWithMuchToSayDoNotBlockEachOther) {
  const Ends ends;
  const std::string much(4 << 20, 'x');
  std::thread peer([&] {
    std::string out = much + "\n";
    std::string_view left = out;
    while (!left.empty())
      left.remove_prefix(
          static_cast<std::size_t>(::write(ends.peer.get(), left.data(), left.size())));
    std::size_t got = 0;
    std::array<char, 65536> chunk;
    while (got < much.size() + 1)
      got += static_cast<std::size_t>(::read(ends.peer.get(), chunk.data(), chunk.size()));
  });
  EXPECT_TRUE(ends.channel->send(much));
  EXPECT_EQ(ends.channel->receive(in(5s)).value(), much);
  peer.join();
}

// An exit status of 0 without a word is no result.
TEST(unit_probes_child, SilentSuccessIsAnError) {
  auto child = start_child({{"sh", "-c", "echo why >&2; exit 0"}, {}});
  ASSERT_TRUE(child) << child.error().message;
  const auto line = (*child)->channel().receive(in(5s));
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().kind, ErrorKind::Environment);
  EXPECT_EQ((*child)->stderr_tail(), "why");
}

TEST(unit_probes_child, TalksAndIsEnded) {
  auto child = start_child({{"cat"}, {}});
  ASSERT_TRUE(child);
  ASSERT_TRUE((*child)->channel().send("hello"));
  EXPECT_EQ((*child)->channel().receive(in(5s)).value(), "hello");
  const int pid = (*child)->pid();
  child->reset();
  EXPECT_NE(::kill(pid, 0), 0);
}

Tuple tuple(const char* from, std::uint16_t sport, const char* to, std::uint16_t port) {
  return {Address::parse(from).value(), sport, Address::parse(to).value(), port};
}

TEST(unit_probes_expectations, AreFoundByTokenTupleAndSequence) {
  Expectations expectations;
  Expect expect;
  expect.round = 3;
  Expected one;
  one.probe = "p-1";
  one.tuple = tuple("10.1.0.2", 40000, "10.2.0.2", 80);
  one.token = {0xde, 0xad, 0xbe, 0xef, 1};
  expect.tries = {one};
  expectations.add(expect);
  ASSERT_NE(expectations.by_token(one.token), nullptr);
  EXPECT_EQ(expectations.by_token(one.token)->round, 3U);
  EXPECT_EQ(expectations.by_token({1}), nullptr);
  EXPECT_NE(expectations.by_tuple(compiler::Transport::Tcp, one.tuple), nullptr);
  EXPECT_EQ(expectations.by_tuple(compiler::Transport::Udp, one.tuple), nullptr);
  const auto by_sequence = [&](const Tuple& seen) {
    return expectations.by_sequence(0xdeadbeef, seen) != nullptr;
  };
  EXPECT_TRUE(by_sequence(one.tuple));
  EXPECT_TRUE(by_sequence(tuple("10.9.0.1", 1, "10.2.0.2", 80))) << "source translated";
  EXPECT_TRUE(by_sequence(tuple("10.1.0.2", 40000, "10.3.0.9", 8080))) << "target translated";
  EXPECT_FALSE(by_sequence(tuple("10.9.0.1", 1, "10.3.0.9", 8080))) << "a stranger's";
}

TEST(unit_probes_packet, LaterFragmentsAndStubsAreNoPackets) {
  std::array<std::uint8_t, 48> packet{0x45};
  packet[9] = 17;
  EXPECT_TRUE(read_ip_header(packet));
  packet[7] = 1;
  EXPECT_FALSE(read_ip_header(packet)) << "later IPv4 fragment";
  packet[6] = 0x20;
  packet[7] = 0;
  EXPECT_TRUE(read_ip_header(packet)) << "first fragment";
  packet[0] = 0x42;
  EXPECT_FALSE(read_ip_header(packet)) << "header length of 8";
  packet = {0x60};
  packet[6] = 44;
  packet[40] = 17;
  EXPECT_EQ(read_ip_header(packet)->protocol, 17);
  EXPECT_EQ(read_ip_header(packet)->length, 48U);
  packet[43] = 8;
  EXPECT_FALSE(read_ip_header(packet)) << "later IPv6 fragment";
  for (std::size_t size = 0; size < 20; ++size)
    EXPECT_FALSE(read_ip_header(std::span(packet).first(size)));
}

}  // namespace
}  // namespace bulkhead::probes
