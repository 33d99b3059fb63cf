#include "probes/trace.h"

#include <arpa/inet.h>
#include <endian.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "policy/support/handle.h"
#include "probes/netlink.h"
#include "probes/nft_query.h"
#include "probes/packet.h"
#include "probes/transports/socket_tools.h"

namespace bulkhead::probes {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kBatch = 64;
constexpr std::size_t kLargestEvent = 4096;  // real ones have a few hundred bytes
constexpr auto kHold = 20ms;

constexpr std::string_view kTraceTable = "bulkhead_trace";

// One event of the kernel; the headers point into the message.
struct Event {
  ChainKey chain;
  std::uint32_t id = 0;
  std::uint32_t type = NFT_TRACETYPE_UNSPEC;
  std::int32_t verdict = NFT_CONTINUE;  // of the rule, or the chain's policy
  std::uint64_t handle = 0;
  std::uint32_t out_interface = 0;
  std::span<const std::uint8_t> network, transport;  // first event of each base chain only
};

std::uint32_t get_u32(const nlattr* attribute) {
  return attribute == nullptr ? 0 : ntohl(mnl_attr_get_u32(attribute));
}

std::span<const std::uint8_t> get_bytes(const nlattr* attribute) {
  if (attribute == nullptr)
    return {};
  return {static_cast<const std::uint8_t*>(mnl_attr_get_payload(attribute)),
          mnl_attr_get_payload_len(attribute)};
}

std::optional<Event> read_event(const nlmsghdr* message) {
  if (message->nlmsg_type != (NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_TRACE))
    return std::nullopt;
  const auto attributes = read_attributes<NFTA_TRACE_MAX, nfgenmsg>(message);
  const auto* table = attributes[NFTA_TRACE_TABLE];
  const auto* chain = attributes[NFTA_TRACE_CHAIN];
  if (table == nullptr || chain == nullptr)
    return std::nullopt;
  Event event;
  event.chain.family = static_cast<const nfgenmsg*>(mnl_nlmsg_get_payload(message))->nfgen_family;
  event.chain.table = mnl_attr_get_str(table);
  event.chain.chain = mnl_attr_get_str(chain);
  event.id = get_u32(attributes[NFTA_TRACE_ID]);
  event.type = get_u32(attributes[NFTA_TRACE_TYPE]);
  if (attributes[NFTA_TRACE_RULE_HANDLE] != nullptr)
    event.handle = be64toh(mnl_attr_get_u64(attributes[NFTA_TRACE_RULE_HANDLE]));
  if (attributes[NFTA_TRACE_VERDICT] != nullptr) {
    const auto verdict = read_nested<NFTA_VERDICT_MAX>(attributes[NFTA_TRACE_VERDICT]);
    event.verdict = static_cast<std::int32_t>(get_u32(verdict[NFTA_VERDICT_CODE]));
  } else if (attributes[NFTA_TRACE_POLICY] != nullptr) {
    event.verdict = static_cast<std::int32_t>(get_u32(attributes[NFTA_TRACE_POLICY]));
  }
  event.out_interface = get_u32(attributes[NFTA_TRACE_OIF]);
  event.network = get_bytes(attributes[NFTA_TRACE_NETWORK_HEADER]);
  event.transport = get_bytes(attributes[NFTA_TRACE_TRANSPORT_HEADER]);
  return event;
}

// A traced packet on its way through the hooks.
struct Packet {
  ExpectedTry* expected = nullptr;
  Tuple tuple;
  ChainKey base;  // the base chain that it is in
  std::uint32_t out_interface = 0;
  std::optional<LastWord> held;  // what it will be, unless a later chain drops it
  EventLoop::Clock::time_point due;
};

}  // namespace

struct Tracer::State {
  State(EventLoop& the_loop, Expectations& the_expectations,
        std::function<void(const LastWord&)> the_report, UniqueFd socket)
      : loop(the_loop),
        expectations(the_expectations),
        report(std::move(the_report)),
        fd(std::move(socket)) {}

  bool read_batch();  // false: nothing left
  void handle(const Event& event);
  Packet* packet_of(const Event& event);
  void hold(std::uint32_t id, Packet& packet, const Event& event);
  void release(std::uint32_t id);
  void release_due();
  void say(const LastWord& word);
  std::string interface_name(std::uint32_t index);

  EventLoop& loop;
  Expectations& expectations;
  std::function<void(const LastWord&)> report;
  UniqueFd fd;
  ChainHooks hooks;
  std::unordered_map<std::uint32_t, Packet> packets;  // by trace id
  std::deque<std::pair<EventLoop::Clock::time_point, std::uint32_t>> held;
  // What was said already of a try: a retransmission or a later segment adds nothing.
  std::unordered_set<std::uint64_t> said;
  std::map<std::uint32_t, std::string> interfaces;
  std::uint64_t lost = 0;
  std::array<std::array<std::uint8_t, kLargestEvent>, kBatch> buffers;
};

Result<std::unique_ptr<Tracer>> Tracer::open(EventLoop& loop, Expectations& expectations,
                                             std::function<void(const LastWord&)> report) {
  UniqueFd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_NETFILTER));
  if (!fd)
    return fail_errno("open a netfilter socket", errno);
  // A burst of some ten thousand packets with ten events each, before this process gets to run.
  set_option(fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, 256 << 20);
  // An unbound socket has port 0, as the kernel has, and is left out of the kernel's broadcasts.
  sockaddr_nl any{};
  any.nl_family = AF_NETLINK;
  const int group = NFNLGRP_NFTRACE;
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0 ||
      ::setsockopt(fd.get(), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof group) != 0)
    return fail_errno("listen to nft trace events (needs CAP_NET_ADMIN)", errno);
  const int raw_fd = fd.get();
  auto state = std::make_unique<State>(loop, expectations, std::move(report), std::move(fd));
  std::unique_ptr<Tracer> tracer(new Tracer(std::move(state)));
  if (const Status status = loop.watch(raw_fd, EPOLLIN, *tracer); !status)
    return fail(status.error());
  return tracer;
}

Tracer::Tracer(std::unique_ptr<State> state) : state_(std::move(state)) {}

Tracer::~Tracer() {
  state_->loop.forget(*this);
}

void Tracer::on_ready(std::uint32_t) {
  for (int i = 0; i < 8 && state_->read_batch(); ++i) {
  }
}

void Tracer::drain() {
  while (state_->read_batch()) {
  }
  while (!state_->held.empty()) {
    state_->release(state_->held.front().second);
    state_->held.pop_front();
  }
  state_->packets.clear();
}

std::uint64_t Tracer::take_lost() {
  return std::exchange(state_->lost, 0);
}

void Tracer::forget_chains() {
  state_->hooks.clear();
}

bool Tracer::State::read_batch() {
  std::array<iovec, kBatch> vectors;
  std::array<mmsghdr, kBatch> messages{};
  for (std::size_t i = 0; i < kBatch; ++i) {
    vectors[i] = {buffers[i].data(), kLargestEvent};
    messages[i].msg_hdr.msg_iov = &vectors[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  const int got = ::recvmmsg(fd.get(), messages.data(), kBatch, 0, nullptr);
  if (got < 0) {
    if (errno != ENOBUFS)
      return false;
    ++lost;
    return true;
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(got); ++i) {
    int left = static_cast<int>(messages[i].msg_len);
    const auto* message = reinterpret_cast<const nlmsghdr*>(buffers[i].data());
    for (; mnl_nlmsg_ok(message, left); message = mnl_nlmsg_next(message, &left)) {
      if (const auto event = read_event(message))
        handle(*event);
    }
  }
  return got == static_cast<int>(kBatch);
}

// The packet that an event speaks of; null where it is none of ours.
Packet* Tracer::State::packet_of(const Event& event) {
  const bool first = event.chain.table == kTraceTable &&
                     (event.chain.chain == "trace_pre" || event.chain.chain == "trace_out") &&
                     !event.network.empty();
  if (first)
    release(event.id);  // ids come back: this is another packet
  const auto known = packets.find(event.id);
  if (known != packets.end() && !first)
    return &known->second;
  const auto ip = read_ip_header(event.network);
  if (!ip)
    return nullptr;
  const TransportRow* row = transport_of_protocol(ip->from.family, ip->protocol);
  if (row == nullptr)
    return nullptr;
  const auto opening = row->read_opening(ip->from.family, event.transport);
  if (!opening)
    return nullptr;
  Packet packet;
  packet.tuple = {ip->from, opening->sport, ip->to, opening->port};
  if (opening->initial_sequence)
    packet.expected = expectations.by_sequence(*opening->initial_sequence, packet.tuple);
  if (packet.expected == nullptr)
    packet.expected = expectations.by_tuple(row->transport, packet.tuple);
  if (packet.expected == nullptr)
    return nullptr;
  return &packets.insert_or_assign(event.id, std::move(packet)).first->second;
}

void Tracer::State::handle(const Event& event) {
  Packet* packet = packet_of(event);
  if (packet == nullptr)
    return;
  if (!event.network.empty()) {  // sent apart, before the first verdict in a base chain (6.18)
    packet->base = event.chain;
    packet->out_interface = event.out_interface;
  }
  const bool decides = event.type == NFT_TRACETYPE_RULE || event.type == NFT_TRACETYPE_POLICY;
  if (!decides)
    return;
  if (event.verdict == NF_DROP) {
    LastWord word;
    word.expected = packet->expected;
    word.outcome = Outcome::Dropped;
    word.tuple = packet->tuple;
    word.hook = hooks.hook_of(packet->base);
    word.table = event.chain.table_name();
    word.chain = event.chain.chain;
    word.handle = event.handle;
    word.verdict = event.type == NFT_TRACETYPE_POLICY ? "policy drop" : "drop";
    packets.erase(event.id);
    say(word);
    return;
  }
  if (event.chain.table == kTraceTable && event.verdict == NF_ACCEPT)
    hold(event.id, *packet, event);
}

void Tracer::State::hold(std::uint32_t id, Packet& packet, const Event& event) {
  const bool left = event.chain.chain == "trace_last_post";
  if (!left && event.chain.chain != "trace_last_in")
    return;
  LastWord word;
  word.expected = packet.expected;
  word.outcome = left ? Outcome::Left : Outcome::Delivered;
  word.tuple = packet.tuple;
  word.hook = left ? "postrouting" : "input";
  word.table = event.chain.table_name();
  word.chain = event.chain.chain;
  word.verdict = "accept";
  if (left)
    word.interface = interface_name(packet.out_interface);
  packet.held = std::move(word);
  packet.due = EventLoop::Clock::now() + kHold;
  if (held.empty())
    loop.at(packet.due, [this] { release_due(); });
  held.emplace_back(packet.due, id);
}

void Tracer::State::release(std::uint32_t id) {
  const auto found = packets.find(id);
  if (found == packets.end())
    return;
  if (const auto& word = found->second.held)
    say(*word);
  packets.erase(found);
}

void Tracer::State::release_due() {
  // Events of the same packet may wait in the socket: they come first.
  while (read_batch()) {
  }
  const auto now = EventLoop::Clock::now();
  while (!held.empty() && held.front().first <= now) {
    const std::uint32_t id = held.front().second;
    held.pop_front();
    // Another packet may have taken the id since.
    const auto found = packets.find(id);
    if (found != packets.end() && found->second.held && found->second.due <= now)
      release(id);
  }
  if (!held.empty())
    loop.at(held.front().first, [this] { release_due(); });
}

void Tracer::State::say(const LastWord& word) {
  const std::size_t place = std::hash<std::string>{}(word.table + '\n' + word.chain);
  const std::uint64_t key = (reinterpret_cast<std::uintptr_t>(word.expected) * 31 + place) * 31 +
                            word.handle * 16 + static_cast<std::uint64_t>(word.outcome);
  if (said.insert(key).second)
    report(word);
}

std::string Tracer::State::interface_name(std::uint32_t index) {
  const auto known = interfaces.find(index);
  if (known != interfaces.end())
    return known->second;
  std::array<char, IF_NAMESIZE> name{};
  if (::if_indextoname(index, name.data()) == nullptr)
    return {};
  return interfaces.emplace(index, name.data()).first->second;
}

bool can_trace() {
  const UniqueFd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER));
  const int group = NFNLGRP_NFTRACE;
  return fd &&
         ::setsockopt(fd.get(), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof group) == 0;
}

}  // namespace bulkhead::probes
