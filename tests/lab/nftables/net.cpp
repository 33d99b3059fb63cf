#include "net.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "policy/support/handle.h"

namespace bulkhead::test {

namespace {

using Bytes = std::vector<std::uint8_t>;

void put16(Bytes& out, unsigned value) {
  out.push_back(static_cast<std::uint8_t>(value >> 8));
  out.push_back(static_cast<std::uint8_t>(value & 0xff));
}

std::uint16_t checksum(const Bytes& bytes, std::uint32_t sum = 0) {
  for (std::size_t i = 0; i < bytes.size(); ++i)
    sum += i % 2 == 0 ? std::uint32_t{bytes[i]} << 8 : bytes[i];
  while (sum >> 16)
    sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

Address address(const std::string& text) {
  const auto parsed = Address::parse(text);
  if (!parsed)
    throw std::invalid_argument("test address: " + text);
  return *parsed;
}

void append(Bytes& out, const Address& value) {
  const std::size_t width = static_cast<std::size_t>(bits(value.family)) / 8;
  out.insert(out.end(), value.bytes.begin(),
             value.bytes.begin() + static_cast<std::ptrdiff_t>(width));
}

// Transport header and payload, checksum over the pseudo header done.
Bytes transport(const Packet& packet, const Address& from, const Address& to) {
  Bytes out;
  std::size_t checksum_at = 0;
  const bool icmp = packet.protocol == 1 || packet.protocol == 58;
  if (packet.protocol == 17) {
    put16(out, packet.sport);
    put16(out, packet.dport);
    put16(out, static_cast<unsigned>(8 + packet.payload.size()));
    put16(out, 0);
    checksum_at = 6;
  } else if (packet.protocol == 6) {
    put16(out, packet.sport);
    put16(out, packet.dport);
    out.insert(out.end(), {0, 0, 0, 1, 0, 0, 0, 1, 0x50, packet.tcp_flags, 0xff, 0xff, 0, 0, 0, 0});
    checksum_at = 16;
  } else if (icmp) {
    out.insert(out.end(), {packet.icmp_type, 0, 0, 0});
    checksum_at = 2;
  }
  out.insert(out.end(), packet.payload.begin(), packet.payload.end());
  if (icmp)
    out.resize(std::max<std::size_t>(out.size(), 8));
  if (packet.protocol != 17 && packet.protocol != 6 && !icmp)
    return out;
  Bytes pseudo;
  if (packet.protocol != 1) {
    append(pseudo, from);
    append(pseudo, to);
    put16(pseudo, static_cast<unsigned>(out.size()));
    put16(pseudo, packet.protocol);
  }
  Bytes all = pseudo;
  all.insert(all.end(), out.begin(), out.end());
  const std::uint16_t sum = checksum(all);
  out[checksum_at] = static_cast<std::uint8_t>(sum >> 8);
  out[checksum_at + 1] = static_cast<std::uint8_t>(sum & 0xff);
  return out;
}

Bytes datagram(const Packet& packet) {
  const Address from = address(packet.from);
  const Address to = address(packet.to);
  const Bytes body = transport(packet, from, to);
  Bytes out;
  if (from.family == Family::V4) {
    static std::uint16_t id = 1;
    out = {0x45, 0};
    put16(out, static_cast<unsigned>(20 + body.size()));
    put16(out, ++id);
    put16(out, 0);
    out.insert(out.end(), {packet.hop_limit, packet.protocol, 0, 0});
    append(out, from);
    append(out, to);
    const std::uint16_t sum = checksum(out);
    out[10] = static_cast<std::uint8_t>(sum >> 8);
    out[11] = static_cast<std::uint8_t>(sum & 0xff);
  } else {
    const std::size_t extra = packet.extension_header ? 8 : 0;
    out = {0x60, 0, 0, 0};
    put16(out, static_cast<unsigned>(body.size() + extra));
    out.push_back(packet.extension_header ? 60 : packet.protocol);
    out.push_back(packet.hop_limit);
    append(out, from);
    append(out, to);
    if (packet.extension_header)  // destination options: PadN of four bytes
      out.insert(out.end(), {packet.protocol, 0, 1, 4, 0, 0, 0, 0});
  }
  out.insert(out.end(), body.begin(), body.end());
  return out;
}

std::uint16_t ether_type(const Packet& packet) {
  return packet.from.find(':') == std::string::npos ? ETH_P_IP : ETH_P_IPV6;
}

std::array<std::uint8_t, 6> parse_mac(const std::string& text) {
  std::array<std::uint8_t, 6> mac{};
  std::array<unsigned, 6> read{};
  if (std::sscanf(text.c_str(), "%x:%x:%x:%x:%x:%x", &read[0], &read[1], &read[2], &read[3],
                  &read[4], &read[5]) != 6)
    throw std::invalid_argument("mac: " + text);
  std::copy(read.begin(), read.end(), mac.begin());
  return mac;
}

// Frames that come in at eth0 of the namespace; opened before the packet is sent.
class Sniffer {
 public:
  explicit Sniffer(const std::string& netns) {
    inside(netns, [&] {
      socket_ = UniqueFd(::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, htons(ETH_P_ALL)));
      sockaddr_ll at{};
      at.sll_family = AF_PACKET;
      at.sll_protocol = htons(ETH_P_ALL);
      at.sll_ifindex = static_cast<int>(::if_nametoindex("eth0"));
      if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0)
        throw std::runtime_error("bind eth0 in " + netns);
    });
  }
  // The same datagram but for what a router changes: compared from the transport header on.
  [[nodiscard]] bool saw(const Packet& packet) const {
    const Bytes sent = datagram(packet);
    const bool v4 = ether_type(packet) == ETH_P_IP;
    const std::size_t addresses = v4 ? 12 : 8;
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(150);
    Bytes frame(65536);
    while (true) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          until - std::chrono::steady_clock::now());
      pollfd wait{socket_.get(), POLLIN, 0};
      if (left.count() <= 0 || ::poll(&wait, 1, static_cast<int>(left.count())) <= 0)
        return false;
      sockaddr_ll origin{};
      socklen_t size = sizeof origin;
      const auto got = ::recvfrom(socket_.get(), frame.data(), frame.size(), 0,
                                  reinterpret_cast<sockaddr*>(&origin), &size);
      if (origin.sll_pkttype == PACKET_OUTGOING || got < static_cast<ssize_t>(sent.size()))
        continue;
      if (std::equal(sent.begin() + static_cast<std::ptrdiff_t>(addresses), sent.end(),
                     frame.begin() + static_cast<std::ptrdiff_t>(addresses)))
        return true;
    }
  }

 private:
  UniqueFd socket_;
};

void emit(const Packet& packet, const std::string& interface, const std::string& mac) {
  const Bytes bytes = datagram(packet);
  const UniqueFd socket(::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_ll to{};
  to.sll_family = AF_PACKET;
  to.sll_protocol = htons(ether_type(packet));
  to.sll_ifindex = static_cast<int>(::if_nametoindex(interface.c_str()));
  to.sll_halen = 6;
  const auto target = parse_mac(mac);
  std::copy(target.begin(), target.end(), to.sll_addr);
  if (::sendto(socket.get(), bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&to),
               sizeof to) != static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error("send from " + interface + ": " + std::strerror(errno));
}

// From the enforcer's own stack, so that its output hook sees it.
void emit_raw(const Packet& packet) {
  const Bytes bytes = datagram(packet);
  const Address to = address(packet.to);
  if (to.family == Family::V4) {
    const UniqueFd socket(::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW));
    sockaddr_in at{};
    at.sin_family = AF_INET;
    std::memcpy(&at.sin_addr, to.bytes.data(), 4);
    // EPERM is the ruleset's drop: the caller looks for the packet itself.
    (void)::sendto(socket.get(), bytes.data(), bytes.size(), 0,
                   reinterpret_cast<const sockaddr*>(&at), sizeof at);
  } else {
    const UniqueFd socket(::socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW));
    sockaddr_in6 at{};
    at.sin6_family = AF_INET6;
    std::memcpy(&at.sin6_addr, to.bytes.data(), 16);
    (void)::sendto(socket.get(), bytes.data(), bytes.size(), 0,
                   reinterpret_cast<const sockaddr*>(&at), sizeof at);
  }
}

std::string quoted(const std::string& command) {
  std::string out = "'";
  for (const char c : command)
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

std::string missing_for_lab() {
  if (::geteuid() != 0)
    return "needs root to make network namespaces";
  if (std::system("command -v ip >/dev/null && command -v nft >/dev/null") != 0)
    return "needs ip (iproute2) and nft (nftables)";
  if (std::system("ip netns add bh-t-try 2>/dev/null && ip netns del bh-t-try") != 0)
    return "network namespaces cannot be made here";
  return {};
}

std::string bytes_of(const Packet& packet) {
  const Bytes bytes = datagram(packet);
  return {bytes.begin(), bytes.end()};
}

void inside(const std::string& netns, const std::function<void()>& work) {
  std::exception_ptr thrown;
  std::thread thread([&] {
    try {
      const UniqueFd space(::open(("/run/netns/" + netns).c_str(), O_RDONLY | O_CLOEXEC));
      if (::setns(space.get(), CLONE_NEWNET) != 0)
        throw std::runtime_error("enter namespace " + netns + ": " + std::strerror(errno));
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
  });
  thread.join();
  if (thrown)
    std::rethrow_exception(thrown);
}

Net::Net(std::string name) : name_("bh-t-" + std::move(name)) {
  made_.push_back(netns(enforcer()));
  (void)std::system(("ip netns del " + made_.back() + " 2>/dev/null").c_str());
  if (std::system(("ip netns add " + made_.back()).c_str()) != 0)
    throw std::runtime_error("namespace " + made_.back());
  run(enforcer(),
      "ip link set lo up; sysctl -qw net.ipv6.conf.default.accept_dad=0 net.ipv4.ip_forward=1 "
      "net.ipv6.conf.all.forwarding=1 "
      "net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0");
}

Net::~Net() {
  for (const auto& space : made_)
    (void)std::system(("ip netns del " + space + " 2>/dev/null").c_str());
}

void Net::host(const std::string& host, const std::string& leg,
               const std::vector<std::string>& gateway, const std::vector<std::string>& addresses) {
  made_.push_back(netns(host));
  const std::string mac = "02:00:00:00:00:" + std::to_string(10 + gateway_mac_.size());
  gateway_mac_[host] = mac;
  std::string script = "ip netns del " + netns(host) + " 2>/dev/null; set -e; ip netns add " +
                       netns(host) + "; ip netns exec " + netns(host) +
                       " sysctl -qw net.ipv6.conf.default.accept_dad=0; ip -n " +
                       netns(enforcer()) + " link add " + leg + " address " + mac +
                       " type veth peer name eth0 netns " + netns(host) + ";";
  const auto add = [&](const std::string& space, const std::string& device,
                       const std::string& address) {
    const bool v6 = address.find(':') != std::string::npos;
    script +=
        "ip -n " + space + " address add " + address + " dev " + device + (v6 ? " nodad;" : ";");
  };
  for (const auto& text : gateway)
    add(netns(enforcer()), leg, text);
  for (const auto& text : addresses)
    add(netns(host), "eth0", text);
  script += "ip -n " + netns(enforcer()) + " link set " + leg + " up; ip -n " + netns(host) +
            " link set lo up; ip -n " + netns(host) + " link set eth0 up;";
  for (const auto& text : gateway) {
    const std::string bare = text.substr(0, text.find('/'));
    script += "ip -n " + netns(host) + " route add default via " + bare + " dev eth0;";
  }
  if (std::system(("{ " + script + " }").c_str()) != 0)
    throw std::runtime_error("host " + host);
}

int Net::run(const std::string& host, const std::string& command) const {
  return std::system(("ip netns exec " + netns(host) + " sh -c " + quoted(command)).c_str());
}

std::string Net::output(const std::string& host, const std::string& command) const {
  const std::string whole = "ip netns exec " + netns(host) + " sh -c " + quoted(command) + " 2>&1";
  std::string out;
  FILE* pipe = ::popen(whole.c_str(), "r");
  if (pipe == nullptr)
    throw std::runtime_error("run " + command);
  std::array<char, 4096> buffer{};
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    out.append(buffer.data(), got);
  ::pclose(pipe);
  return out;
}

std::string Net::load(const std::string& nft_text, const std::string& options) const {
  const std::string file = "/tmp/" + name_ + ".nft";
  std::ofstream(file) << nft_text;
  const std::string said = output(enforcer(), "nft " + options + " -f " + file);
  ::unlink(file.c_str());
  return said;
}

void Net::send(const std::string& from, const Packet& packet) const {
  inside(netns(from), [&] { emit(packet, "eth0", gateway_mac_.at(from)); });
}

bool Net::arrives(const std::string& from, const std::string& to, const Packet& packet) const {
  const Sniffer sniffer(netns(to));
  send(from, packet);
  return sniffer.saw(packet);
}

bool Net::leaves(const std::string& to, const Packet& packet) const {
  const Sniffer sniffer(netns(to));
  inside(netns(enforcer()), [&] { emit_raw(packet); });
  return sniffer.saw(packet);
}

bool Net::reaches_input(const std::string& from, const Packet& packet) const {
  const std::string family = packet.from.find(':') == std::string::npos ? "ip" : "ip6";
  const std::string table =
      "table inet bh_after\ndelete table inet bh_after\ntable inet bh_after {\n chain seen {\n"
      "  type filter hook input priority 100; policy accept;\n  " +
      family + " saddr " + packet.from + " " + family + " daddr " + packet.to +
      " counter comment \"seen\"\n }\n}\n";
  if (const auto wrong = load(table); !wrong.empty())
    throw std::runtime_error(wrong);
  send(from, packet);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const std::string listed = output(enforcer(), "nft list table inet bh_after");
  (void)output(enforcer(), "nft delete table inet bh_after");
  return listed.find("counter packets 0 ") == std::string::npos;
}

}  // namespace bulkhead::test
