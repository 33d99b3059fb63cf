#include "probes/capture.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "probes/packet.h"
#include "probes/transports/socket_tools.h"

namespace bulkhead::probes {
namespace {

constexpr std::size_t kBatch = 64;
constexpr std::size_t kSnap = 192;  // IP and transport headers with options, and the token

constexpr sock_filter load_byte(std::uint32_t at) {
  return {BPF_LD | BPF_B | BPF_ABS, 0, 0, at};
}
constexpr sock_filter load_half(std::uint32_t at) {
  return {BPF_LD | BPF_H | BPF_ABS, 0, 0, at};
}
constexpr sock_filter jump_equal(std::uint32_t value, std::uint8_t yes, std::uint8_t no) {
  return {BPF_JMP | BPF_JEQ | BPF_K, yes, no, value};
}
constexpr sock_filter verdict(std::uint32_t bytes) {
  return {BPF_RET | BPF_K, 0, 0, bytes};
}

// Keeps a busy host's traffic out of our process: of TCP only SYNs without ACK and what has the
// mark of a lone ACK, and of fragments only the first. Offsets count from the network header, since
// the socket is a cooked one.
constexpr auto kFilter = std::to_array<sock_filter>({
    /* 0*/ load_half(static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_PROTOCOL)),
    /* 1*/ jump_equal(ETH_P_IP, 0, 10),
    // IPv4
    /* 2*/ load_half(6),
    /* 3*/ {BPF_JMP | BPF_JSET | BPF_K, 16, 0, 0x1fff},
    /* 4*/ load_byte(9),
    /* 5*/ jump_equal(IPPROTO_TCP, 0, 15),
    /* 6*/ {BPF_LDX | BPF_B | BPF_MSH, 0, 0, 0},
    /* 7*/ {BPF_LD | BPF_B | BPF_IND, 0, 0, 13},
    /* 8*/ {BPF_ALU | BPF_AND | BPF_K, 0, 0, 0x12},
    /* 9*/ jump_equal(0x02, 11, 0),
    /*10*/ {BPF_LD | BPF_H | BPF_IND, 0, 0, 18},
    /*11*/ jump_equal(kLoneAckMark, 9, 8),
    // IPv6
    /*12*/ jump_equal(ETH_P_IPV6, 0, 7),
    /*13*/ load_byte(6),
    /*14*/ jump_equal(IPPROTO_TCP, 0, 6),
    /*15*/ load_byte(40 + 13),
    /*16*/ {BPF_ALU | BPF_AND | BPF_K, 0, 0, 0x12},
    /*17*/ jump_equal(0x02, 3, 0),
    /*18*/ load_half(40 + 18),
    /*19*/ jump_equal(kLoneAckMark, 1, 0),
    /*20*/ verdict(0),
    /*21*/ verdict(kSnap),
});

// A tap on the interface below sees a VLAN's frames before the VLAN's own interface does.
bool has_vlan_tag(msghdr& message) {
  for (cmsghdr* extra = CMSG_FIRSTHDR(&message); extra != nullptr;
       extra = CMSG_NXTHDR(&message, extra)) {
    if (extra->cmsg_level != SOL_PACKET || extra->cmsg_type != PACKET_AUXDATA)
      continue;
    tpacket_auxdata data{};
    std::memcpy(&data, CMSG_DATA(extra), sizeof data);
    return (data.tp_status & TP_STATUS_VLAN_VALID) != 0;
  }
  return false;
}

}  // namespace

struct Capture::Buffers {
  std::array<std::array<std::uint8_t, kSnap>, kBatch> packets;
  std::array<sockaddr_ll, kBatch> addresses;
  alignas(cmsghdr) std::array<std::array<char, CMSG_SPACE(sizeof(tpacket_auxdata))>, kBatch> extras;
  std::array<iovec, kBatch> vectors;
  std::array<mmsghdr, kBatch> messages;
};

Result<std::unique_ptr<Capture>> Capture::open(EventLoop& loop, Expectations& expectations,
                                               const std::vector<std::string>& nics,
                                               std::function<void(const Sighting&)> report) {
  // Protocol 0 receives nothing until bound, so that no packet slips past the filter.
  UniqueFd fd(::socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd)
    return fail_errno("open a packet capture (needs CAP_NET_RAW)", errno);
  set_option(fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, 32 << 20);
  set_option(fd.get(), SOL_PACKET, PACKET_IGNORE_OUTGOING, 1);
  set_option(fd.get(), SOL_PACKET, PACKET_AUXDATA, 1);
  std::array<sock_filter, kFilter.size()> filter = kFilter;
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  sockaddr_ll all{};
  all.sll_family = AF_PACKET;
  all.sll_protocol = htons(ETH_P_ALL);
  if (::setsockopt(fd.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0 ||
      ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&all), sizeof all) != 0)
    return fail_errno("set up the packet capture", errno);
  const int raw_fd = fd.get();
  std::unique_ptr<Capture> capture(
      new Capture(loop, expectations, std::move(report), std::move(fd)));
  capture->watch_for_others(nics);
  if (const Status status = loop.watch(raw_fd, EPOLLIN, *capture); !status)
    return fail(status.error());
  return capture;
}

// A NIC that cannot be promiscuous (some virtual functions) shows less, and no fewer of our own.
void Capture::watch_for_others(const std::vector<std::string>& nics) {
  for (const std::string& nic : nics) {
    packet_mreq request{};
    request.mr_ifindex = static_cast<int>(::if_nametoindex(nic.c_str()));
    request.mr_type = PACKET_MR_PROMISC;
    if (request.mr_ifindex == 0)
      continue;
    ::setsockopt(fd_.get(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &request, sizeof request);
    nics_.insert(request.mr_ifindex);
  }
}

Capture::Capture(EventLoop& loop, Expectations& expectations,
                 std::function<void(const Sighting&)> report, UniqueFd fd)
    : loop_(loop),
      expectations_(expectations),
      report_(std::move(report)),
      fd_(std::move(fd)),
      buffers_(std::make_unique<Buffers>()) {
  for (std::size_t i = 0; i < kBatch; ++i) {
    buffers_->vectors[i] = {buffers_->packets[i].data(), kSnap};
    buffers_->messages[i] = {};
    buffers_->messages[i].msg_hdr.msg_iov = &buffers_->vectors[i];
    buffers_->messages[i].msg_hdr.msg_iovlen = 1;
    buffers_->messages[i].msg_hdr.msg_name = &buffers_->addresses[i];
  }
}

Capture::~Capture() {
  loop_.forget(*this);
}

void Capture::on_ready(std::uint32_t) {
  for (int i = 0; i < 4 && read_batch(); ++i) {
  }
}

void Capture::drain() {
  constexpr int kMost = 1000;  // batches: a flood never ends by itself
  for (int i = 0; i < kMost && read_batch(); ++i) {
  }
}

bool Capture::read_batch() {
  for (std::size_t i = 0; i < kBatch; ++i) {
    msghdr& header = buffers_->messages[i].msg_hdr;
    header.msg_namelen = sizeof(sockaddr_ll);
    header.msg_control = buffers_->extras[i].data();
    header.msg_controllen = buffers_->extras[i].size();
  }
  const int got = ::recvmmsg(fd_.get(), buffers_->messages.data(), kBatch, 0, nullptr);
  for (int i = 0; i < got; ++i) {
    const auto index = static_cast<std::size_t>(i);
    const sockaddr_ll& from = buffers_->addresses[index];
    handle({buffers_->packets[index].data(), buffers_->messages[index].msg_len},
           {from.sll_ifindex, from.sll_pkttype == PACKET_HOST,
            has_vlan_tag(buffers_->messages[index].msg_hdr)});
  }
  return got == static_cast<int>(kBatch);
}

void Capture::handle(std::span<const std::uint8_t> packet, const Frame& frame) {
  const auto ip = read_ip_header(packet);
  if (!ip || packet.size() < ip->length)
    return;
  const TransportRow* row = transport_of_protocol(ip->from.family, ip->protocol);
  if (row == nullptr)
    return;
  const auto opening = row->read_opening(ip->from.family, packet.subspan(ip->length));
  if (!opening)
    return;
  Sighting sighting;
  sighting.tuple = {ip->from, opening->sport, ip->to, opening->port};
  if (!opening->token && opening->initial_sequence)
    sighting.outcome = Outcome::SynSeen;
  const bool expected = frame.for_us && is_expected(*opening, row->transport, sighting);
  if (!expected && !is_unwanted(*opening, frame, sighting))
    return;
  std::array<char, IF_NAMESIZE> name{};
  if (::if_indextoname(static_cast<unsigned>(frame.interface), name.data()) != nullptr)
    sighting.interface = name.data();
  if (!expected && nics_.empty() && sighting.interface == "lo")
    return;
  // A retransmission, or what a listener has already reported, is nothing new.
  if (expected && std::exchange(sighting.expected->arrival_reported, true))
    return;
  report_(sighting);
}

bool Capture::is_expected(const Opening& opening, compiler::Transport transport,
                          Sighting& sighting) {
  ExpectedTry* expected = nullptr;
  bool token_seen = true;
  if (opening.token) {
    expected = expectations_.by_token(*opening.token);
  } else if (opening.initial_sequence) {
    expected = expectations_.by_sequence(*opening.initial_sequence, sighting.tuple);
    token_seen = expected != nullptr;
    if (!token_seen)
      expected = expectations_.by_tuple(transport, sighting.tuple);
  }
  if (expected == nullptr)
    return false;
  sighting.expected = expected;
  if (token_seen)
    sighting.token = to_hex(expected->what.token);
  return true;
}

// As it is for somebody else, only the operator knows whose it is, and whether this host may see
// it.
bool Capture::is_unwanted(const Opening& opening, const Frame& frame, Sighting& sighting) {
  if (frame.tagged || (!nics_.empty() && !nics_.contains(frame.interface)))
    return false;
  std::uint32_t head = 0;
  if (opening.token)
    head = initial_sequence(*opening.token);
  else if (opening.initial_sequence)
    head = *opening.initial_sequence;
  else
    return false;
  if (!expectations_.is_unwanted(head) || !unwanted_reported_.emplace(head, frame.interface).second)
    return false;
  sighting.token = opening.token ? to_hex(*opening.token) : fmt::format("{:08x}", head);
  return true;
}

std::uint64_t Capture::take_lost() {
  tpacket_stats stats{};
  socklen_t length = sizeof stats;
  // Reading resets the counters.
  if (::getsockopt(fd_.get(), SOL_PACKET, PACKET_STATISTICS, &stats, &length) != 0)
    return 0;
  return stats.tp_drops;
}

}  // namespace bulkhead::probes
