#include "connections.h"

namespace bulkhead::test {

using namespace compiler::proof;

namespace {

constexpr std::uint8_t kFin = 1, kSyn = 2, kRst = 4, kAck = 16, kUrg = 32;

bool has_ports(std::uint8_t protocol) {
  return protocol == 6 || protocol == 17 || protocol == 132;
}

struct Answered {
  std::uint8_t request, answer;
};
constexpr Answered kAnswers[] = {{8, 0}, {13, 14}, {128, 129}};

// First packets that make a connection (nf_conntrack_proto_*.c, kernel 6.18).
std::uint8_t first_state(const PacketFacts& facts) {
  if (facts.protocol == 6) {
    const unsigned flags = facts.tcp_flags & (kFin | kSyn | kRst | kAck | kUrg);
    // Without the SYN seen: nf_conntrack_tcp_loose picks a running connection up.
    const bool is_new =
        flags == kSyn || flags == (kSyn | kUrg) || flags == kAck || flags == (kAck | kUrg);
    return is_new ? kCtNew : kCtInvalid;
  }
  if (facts.protocol == 1)
    return facts.icmp_type == 8 || facts.icmp_type == 13 ? kCtNew : kCtInvalid;
  if (facts.protocol == 58) {
    const bool is_link =
        (facts.icmp_type >= 130 && facts.icmp_type <= 136) || facts.icmp_type == 143;
    if (is_link)
      return kCtUntracked;
    return facts.icmp_type == 128 ? kCtNew : kCtInvalid;
  }
  // SCTP begins with an INIT chunk, which these packets do not have.
  return facts.protocol == 132 ? kCtInvalid : kCtNew;
}

}  // namespace

Connections::Key Connections::key_of(const PacketFacts& facts) {
  Key key{facts.from.family, facts.protocol, to_value(facts.from), to_value(facts.to), 0, 0};
  if (has_ports(facts.protocol)) {
    key.sport = facts.sport;
    key.dport = facts.dport;
  } else if (facts.protocol == 1 || facts.protocol == 58) {
    // Conntrack keeps request and answer of one id as one connection, by the request's type.
    std::uint8_t type = facts.icmp_type;
    for (const auto& [request, answer] : kAnswers)
      if (type == answer)
        type = request;
    key.sport = facts.icmp_id;
    key.dport = static_cast<std::uint16_t>(type << 8 | facts.icmp_code);
  }
  return key;
}

void Connections::look_up(const PacketFacts& facts, Packet& packet) const {
  const auto found = by_tuple_.find(key_of(facts));
  if (found != by_tuple_.end()) {
    const Known& known = *found->second.known;
    packet.connection = known.connection;
    packet.connection->reply = found->second.reply;
    packet.connection->status |= kStatusConfirmed;
    const bool answered = found->second.reply || known.answered;
    packet.connection->status |= answered ? kStatusSeenReply : 0;
    packet.ct_state = answered ? kCtEstablished : kCtNew;
    return;
  }
  packet.ct_state = first_state(facts);
  if (packet.ct_state != kCtNew)
    return;
  const Key key = key_of(facts);
  Connection connection;
  connection.protocol = facts.protocol;
  connection.original = {key.from, key.to, key.sport, key.dport};
  connection.answer = {key.to, key.from, key.dport, key.sport};
  packet.connection = connection;
}

void Connections::relate(const Known& known, Packet& packet) {
  packet.connection = known.connection;
  packet.connection->reply = true;  // against the packet that it is about
  packet.connection->status |= kStatusConfirmed | (known.answered ? kStatusSeenReply : 0);
  packet.ct_state = kCtRelated;
}

void Connections::learn(const PacketFacts& facts, const Packet& after, bool passed) {
  if (!after.connection)
    return;
  const Key key = key_of(facts);
  const auto found = by_tuple_.find(key);
  if (found != by_tuple_.end()) {
    // Looked up, so noted, even where a later chain dropped it.
    found->second.known->answered |= found->second.reply;
    found->second.known->connection.mark = after.connection->mark;
    return;
  }
  if (!passed)
    return;
  const auto known = std::make_shared<Known>(Known{*after.connection, facts.from.family, false});
  by_tuple_[key] = {known, false};
  Key answer = key;
  answer.from = after.connection->answer.saddr;
  answer.to = after.connection->answer.daddr;
  if (has_ports(facts.protocol)) {
    answer.sport = after.connection->answer.sport;
    answer.dport = after.connection->answer.dport;
  }
  by_tuple_.try_emplace(answer, Entry{known, true});
  all_.push_back(known);
}

}  // namespace bulkhead::test
