// Forwarded 64-byte UDP packets per second through one enforcer, with each of some rulesets in
// turn: rounds over all of them, so that a noisy moment meets them all; medians are compared.
//
//   bench_forward NAME=FILE...        FILE: a ruleset, or "none"
//
// The network is three namespaces: source -l0- enforcer -l1- sink. The packets are the same for
// all: 10.0.1.1 -> 10.1.1.1, udp 5000, over 1,000 source ports. The sender writes frames
// (AF_PACKET), so nearly all of the time measured is the enforcer's; NEW packets are a flow that
// nobody answers, ESTABLISHED ones the same flow after one answer to each 5-tuple.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "policy/support/handle.h"

namespace {

using bulkhead::UniqueFd;
using Clock = std::chrono::steady_clock;
using Frame = std::array<std::uint8_t, 64>;

constexpr std::size_t kTuples = 1000;
constexpr int kRounds = 7;
constexpr std::chrono::milliseconds kSpell{250};

constexpr const char* kUp = R"(set -e
for n in src fw dst; do ip netns del bh-bench-$n 2>/dev/null || true; ip netns add bh-bench-$n; done
ip -n bh-bench-fw link add l0 address 02:00:00:00:00:10 type veth peer name eth0 netns bh-bench-src
ip -n bh-bench-fw link add l1 address 02:00:00:00:00:11 type veth peer name eth0 netns bh-bench-dst
ip netns exec bh-bench-fw sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 \
  net.ipv4.conf.default.rp_filter=0 net.netfilter.nf_conntrack_udp_timeout=600
ip -n bh-bench-fw address add 10.0.0.1/16 dev l0
ip -n bh-bench-fw address add 10.1.0.1/16 dev l1
for l in l0 l1; do ip -n bh-bench-fw link set $l up; done
for n in src dst; do ip -n bh-bench-$n link set eth0 address 02:00:00:00:00:20; ip -n bh-bench-$n link set eth0 up; done
ip -n bh-bench-fw neigh add 10.1.1.1 lladdr 02:00:00:00:00:20 dev l1
ip -n bh-bench-fw neigh add 10.0.1.1 lladdr 02:00:00:00:00:20 dev l0
)";
constexpr const char* kDown =
    "for n in src fw dst; do ip netns del bh-bench-$n 2>/dev/null || true; done";

bool shell(const std::string& script) {
  return std::system(("{ " + script + "\n}").c_str()) == 0;
}

// Sends from inside one namespace, over the frames in turn.
class Sender {
 public:
  Sender(const char* netns, const std::array<std::uint8_t, 6>& gateway) {
    std::thread([&] {
      const UniqueFd space(::open((std::string("/run/netns/") + netns).c_str(), O_RDONLY));
      if (::setns(space.get(), CLONE_NEWNET) != 0)
        return;
      socket_ = UniqueFd(::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
      to_.sll_ifindex = static_cast<int>(::if_nametoindex("eth0"));
    }).join();
    to_.sll_family = AF_PACKET;
    to_.sll_protocol = htons(ETH_P_IP);
    to_.sll_halen = 6;
    std::copy(gateway.begin(), gateway.end(), to_.sll_addr);
    const int yes = 1;
    ::setsockopt(socket_.get(), SOL_PACKET, PACKET_QDISC_BYPASS, &yes, sizeof yes);
  }

  // All frames `times` times. Packets sent.
  std::size_t send(std::vector<Frame>& frames, std::size_t times) {
    constexpr std::size_t kBatch = 100;
    std::array<mmsghdr, kBatch> messages{};
    std::array<iovec, kBatch> parts{};
    std::size_t sent = 0;
    for (std::size_t time = 0; time < times; ++time) {
      for (std::size_t at = 0; at < frames.size(); at += kBatch) {
        const std::size_t count = std::min(kBatch, frames.size() - at);
        for (std::size_t i = 0; i < count; ++i) {
          // 64 bytes on the wire are 50 of IP: 14 are Ethernet's.
          parts[i] = {frames[at + i].data(), 50};
          messages[i].msg_hdr = {&to_, sizeof to_, &parts[i], 1, nullptr, 0, 0};
        }
        const int done =
            ::sendmmsg(socket_.get(), messages.data(), static_cast<unsigned>(count), 0);
        sent += done > 0 ? static_cast<std::size_t>(done) : 0;
      }
    }
    return sent;
  }

 private:
  UniqueFd socket_;
  sockaddr_ll to_{};
};

std::uint16_t checksum(const std::uint8_t* bytes, std::size_t size) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < size; i += 2)
    sum += (std::uint32_t{bytes[i]} << 8) + bytes[i + 1];
  while (sum >> 16)
    sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

std::vector<Frame> frames(bool answers) {
  std::vector<Frame> out(kTuples);
  for (std::size_t i = 0; i < kTuples; ++i) {
    const auto port = static_cast<std::uint16_t>(20000 + i);
    const std::uint16_t sport = answers ? 5000 : port;
    const std::uint16_t dport = answers ? port : 5000;
    std::uint8_t* ip = out[i].data();
    const std::uint8_t a[] = {10, 0, 1, 1}, b[] = {10, 1, 1, 1};
    ip[0] = 0x45;
    ip[3] = 50;
    ip[8] = 64;
    ip[9] = 17;
    std::memcpy(ip + 12, answers ? b : a, 4);
    std::memcpy(ip + 16, answers ? a : b, 4);
    const std::uint16_t sum = checksum(ip, 20);
    ip[10] = static_cast<std::uint8_t>(sum >> 8);
    ip[11] = static_cast<std::uint8_t>(sum & 0xff);
    ip[20] = static_cast<std::uint8_t>(sport >> 8);
    ip[21] = static_cast<std::uint8_t>(sport & 0xff);
    ip[22] = static_cast<std::uint8_t>(dport >> 8);
    ip[23] = static_cast<std::uint8_t>(dport & 0xff);
    ip[25] = 30;
  }
  return out;
}

std::size_t received() {
  FILE* pipe =
      ::popen("ip netns exec bh-bench-dst cat /sys/class/net/eth0/statistics/rx_packets", "r");
  std::size_t count = 0;
  if (pipe != nullptr) {
    if (std::fscanf(pipe, "%zu", &count) != 1)
      count = 0;
    ::pclose(pipe);
  }
  return count;
}

struct Rates {
  std::vector<double> fresh, established;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Packets per second that came out at the far side.
double spell(Sender& sender, std::vector<Frame>& packets) {
  const std::size_t before = received();
  const auto start = Clock::now();
  while (Clock::now() - start < kSpell)
    sender.send(packets, 5);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // what is still queued
  return static_cast<double>(received() - before) / seconds;
}

bool load(const std::string& file) {
  const std::string nft = "ip netns exec bh-bench-fw nft ";
  return file == "none" || shell(nft + "-f " + file);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: bench_forward NAME=FILE...   (FILE: a ruleset, or none)\n", stderr);
    return 2;
  }
  const std::array<std::uint8_t, 6> l0{2, 0, 0, 0, 0, 0x10}, l1{2, 0, 0, 0, 0, 0x11};
  auto packets = frames(false);
  auto answers = frames(true);
  std::map<std::string, Rates> rates;
  std::vector<std::string> order;
  int status = 0;
  for (int round = 0; round < kRounds && status == 0; ++round) {
    for (int i = 1; i < argc; ++i) {
      const std::string argument = argv[i];
      const std::size_t equals = argument.find('=');
      const std::string name = argument.substr(0, equals);
      if (round == 0)
        order.push_back(name);
      // Made anew for each: conntrack remembers which tuples were answered.
      if (!shell(kUp)) {
        std::fputs("network namespaces cannot be made here (root? iproute2?)\n", stderr);
        status = 77;
        break;
      }
      if (equals == std::string::npos || !load(argument.substr(equals + 1))) {
        status = 3;
        break;
      }
      Sender source("bh-bench-src", l0), sink("bh-bench-dst", l1);
      source.send(packets, 1);  // the entries that NEW packets keep finding
      rates[name].fresh.push_back(spell(source, packets));
      sink.send(answers, 1);
      rates[name].established.push_back(spell(source, packets));
    }
  }
  shell(kDown);
  for (const auto& name : order)
    if (status == 0)
      std::printf("%s %.0f %.0f\n", name.c_str(), median(rates[name].fresh),
                  median(rates[name].established));
  return status;
}
