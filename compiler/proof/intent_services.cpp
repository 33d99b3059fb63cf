#include "compiler/proof/intent_services.h"

#include <algorithm>

#include "compiler/proof/family_fields.h"

namespace bulkhead::compiler::proof {

namespace {

using policy::Cell;
using policy::Kind;
using policy::Piece;

constexpr Value kIcmp = 1, kTcp = 6, kUdp = 17, kIcmp6 = 58, kSctp = 132;

constexpr Terminal kNo = static_cast<Terminal>(Wanted::No);
constexpr Terminal kMust = static_cast<Terminal>(Wanted::Must);
constexpr Terminal kMay = static_cast<Terminal>(Wanted::May);

constexpr Value number(CtState state) {
  return static_cast<Value>(state);
}

// Answers to the rows of policy::kIcmpQueries (RFC 792, RFC 950, RFC 4443).
struct IcmpAnswer {
  Value v4 = 0, v6 = 0;
};
constexpr IcmpAnswer kIcmpAnswers[] = {{0, 129}, {14, 0}, {18, 0}};
static_assert(std::size(kIcmpAnswers) == std::size(policy::kIcmpQueries));

// InfiniBand volume 1, 9.2.1 (BTH opcodes of RC, UC, UD), RoCEv2 annex A17.9.3 (congestion
// notification); XRC is refused, its answers come from another queue pair.
const std::vector<ValueRange> kRequestOpcodes{{0x00, 0x3f}, {0x60, 0x7f}, {0x81, 0x81}};
const std::vector<ValueRange> kAnswerOpcodes{{0x0d, 0x12}, {0x81, 0x81}};
constexpr Value kUdSendOnly = 0x64;
constexpr Value kManagementQueuePair = 1;
constexpr Value kConnectionManagement = 7;  // management class, volume 1, 16.7
// MRA, REJ, REP, DREQ, DREP, SIDR_REP, APR answer; REQ, RTU, SIDR_REQ, LAP are the asking side's.
const std::vector<ValueRange> kAnsweringAttributes{
    {0x11, 0x13}, {0x15, 0x16}, {0x18, 0x18}, {0x1a, 0x1a}};

// Destination unreachable, time exceeded, parameter problem; of ICMPv6 packet too big as well.
const std::vector<ValueRange> kErrors4{icmp_types({3, 3}), icmp_types({11, 12})};
const std::vector<ValueRange> kErrors6{icmp_types({1, 4})};

bool is_roce(const Piece& piece) {
  return piece.key.kind == Kind::Roce || piece.key.kind == Kind::GpuDirect;
}

const Piece* allowed_roce(const Cell* cell) {
  if (cell == nullptr)
    return nullptr;
  const auto at = std::find_if(cell->pieces.begin(), cell->pieces.end(), [](const Piece& piece) {
    return is_roce(piece) && piece.action == policy::Action::Allow;
  });
  return at == cell->pieces.end() ? nullptr : &*at;
}

}  // namespace

ServiceIntents::ServiceIntents(Diagrams& space) : space_(space) {
  has_header_ = has_transport(space_);
  const Diagram established = space_.equal(Field::CtState, number(CtState::Established));
  reply_ = space_.intersect(established, space_.equal(Field::CtDirection, kReply));
  to_roce_ = ports_of(kUdp, Field::DestinationPort, {policy::kRocePort, policy::kRocePort});
  const Diagram related = space_.equal(Field::CtState, number(CtState::Related));
  errors_[0] = all_of({has_header_, related, space_.equal(Field::Protocol, kIcmp),
                       space_.in(Field::SourcePort, kErrors4)});
  errors_[1] = all_of({has_header_, related, space_.equal(Field::Protocol, kIcmp6),
                       space_.in(Field::SourcePort, kErrors6)});
  requests_ = space_.in(Field::BthOpcode, kRequestOpcodes);
  roce_answers_ =
      space_.unite(space_.in(Field::BthOpcode, kAnswerOpcodes),
                   all_of({space_.equal(Field::BthOpcode, kUdSendOnly),
                           space_.equal(Field::QueuePair, kManagementQueuePair),
                           space_.equal(Field::ManagementClass, kConnectionManagement),
                           space_.in(Field::ManagementAttribute, kAnsweringAttributes)}));

  const Diagram must = space_.constant(kMust), may = space_.constant(kMay);
  const Diagram forth = space_.branch(Field::CtDirection, {{{kOriginal, kOriginal}, must}}, may);
  opens_state_ =
      space_.branch(Field::CtState,
                    {{{number(CtState::New), number(CtState::New)}, must},
                     {{number(CtState::Established), number(CtState::Established)}, forth}},
                    may);
  answers_state_ = space_.if_then_else(reply_, may, space_.constant(kNo));
}

Diagram ServiceIntents::all_of(std::initializer_list<Diagram> sets) {
  Diagram out = space_.everything();
  for (auto set = std::rbegin(sets); set != std::rend(sets); ++set)
    out = space_.intersect(*set, out);
  return out;
}

Diagram ServiceIntents::ports_of(Value protocol, Field field, PortRange ports) {
  return all_of({has_header_, space_.equal(Field::Protocol, protocol),
                 space_.in(field, {ports.first, ports.last})});
}

Diagram ServiceIntents::icmp_type(Family family, Value type) {
  return all_of({has_header_, space_.equal(Field::Protocol, family == Family::V4 ? kIcmp : kIcmp6),
                 space_.in(Field::SourcePort, icmp_types({type, type}))});
}

Diagram ServiceIntents::packet_of(const Piece& piece, Family family) {
  const bool v4 = family == Family::V4;
  switch (piece.key.kind) {
    case Kind::Tcp:
      return ports_of(kTcp, Field::DestinationPort, piece.ports);
    case Kind::Udp:
      return ports_of(kUdp, Field::DestinationPort, piece.ports);
    case Kind::Sctp:
      return ports_of(kSctp, Field::DestinationPort, piece.ports);
    case Kind::Icmp: {
      Diagram out = space_.nothing();
      for (std::size_t row = piece.ports.first;
           row <= piece.ports.last && row < std::size(policy::kIcmpQueries); ++row) {
        const auto& query = policy::kIcmpQueries[row];
        if (const auto& type = v4 ? query.v4_type : query.v6_type)
          out = space_.unite(out, icmp_type(family, *type));
      }
      return out;
    }
    case Kind::Ip:
      return space_.equal(Field::Protocol, piece.key.protocol);
    case Kind::Dhcp:  // RFC 2131 4.1, RFC 8415 7.2: a client or a relay to a server
      return all_of(
          {ports_of(kUdp, Field::DestinationPort, v4 ? PortRange{67, 67} : PortRange{547, 547}),
           space_.in(Field::SourcePort, v4 ? ValueRange{67, 68} : ValueRange{546, 547})});
    case Kind::Roce:
    case Kind::GpuDirect:
    case Kind::Ib:
      break;  // roce(); InfiniBand passes no enforcer
  }
  return space_.nothing();
}

Diagram ServiceIntents::answer_to(const Piece& piece, Family family) {
  const bool v4 = family == Family::V4;
  switch (piece.key.kind) {
    case Kind::Tcp:
      return ports_of(kTcp, Field::SourcePort, piece.ports);
    case Kind::Udp:
      return ports_of(kUdp, Field::SourcePort, piece.ports);
    case Kind::Sctp:
      return ports_of(kSctp, Field::SourcePort, piece.ports);
    case Kind::Icmp: {
      Diagram out = space_.nothing();
      for (std::size_t row = piece.ports.first;
           row <= piece.ports.last && row < std::size(kIcmpAnswers); ++row) {
        const auto& query = policy::kIcmpQueries[row];
        if (v4 ? query.v4_type : query.v6_type)
          out = space_.unite(out,
                             icmp_type(family, v4 ? kIcmpAnswers[row].v4 : kIcmpAnswers[row].v6));
      }
      return out;
    }
    case Kind::Ip:
      return space_.equal(Field::Protocol, piece.key.protocol);
    case Kind::Dhcp:
      return all_of(
          {ports_of(kUdp, Field::SourcePort, v4 ? PortRange{67, 67} : PortRange{547, 547}),
           space_.in(Field::DestinationPort, v4 ? ValueRange{67, 68} : ValueRange{546, 547})});
    case Kind::Roce:
    case Kind::GpuDirect:
    case Kind::Ib:
      break;
  }
  return space_.nothing();
}

Diagram ServiceIntents::opening(const Cell* cell, Family family) {
  if (cell == nullptr)
    return space_.nothing();
  const auto [known, is_new] = opening_.try_emplace({cell, family});
  if (is_new) {
    std::vector<Diagram> sets;
    for (const Piece& piece : cell->pieces)
      if (piece.action == policy::Action::Allow && !piece.key.group)
        sets.push_back(packet_of(piece, family));
    known->second = cell->everything ? space_.everything() : space_.unite(sets);
  }
  return known->second;
}

Diagram ServiceIntents::answering(const Cell* cell, Family family) {
  if (cell == nullptr)
    return space_.nothing();
  const auto [known, is_new] = answering_.try_emplace({cell, family});
  if (is_new) {
    std::vector<Diagram> sets;
    for (const Piece& piece : cell->pieces)
      if (piece.action == policy::Action::Allow && !piece.key.group)
        sets.push_back(answer_to(piece, family));
    known->second = cell->everything ? space_.everything() : space_.unite(sets);
  }
  return known->second;
}

Diagram ServiceIntents::by_state(Diagram opens, Diagram answers, Family family, bool has_flow) {
  const Diagram must = space_.constant(kMust);
  Diagram out = space_.if_then_else(opens, opens_state_, answers_state_);
  out = space_.if_then_else(space_.intersect(answers, reply_), must, out);
  return space_.if_then_else(errors_[family == Family::V4 ? 0 : 1],
                             has_flow ? must : space_.constant(kMay), out);
}

// Whatever conntrack says of it: a denied request from port 4791 to port 4791 looks like an answer.
Diagram ServiceIntents::roce(const Cell* forth, const Cell* back) {
  Diagram passes = space_.nothing();
  if (forth != nullptr && forth->everything)
    passes = space_.everything();
  else if (allowed_roce(forth) != nullptr)
    passes = requests_;
  else if (allowed_roce(back) != nullptr)
    passes = roce_answers_;
  return space_.if_then_else(passes, space_.constant(kMust), space_.constant(kNo));
}

Diagram ServiceIntents::between(const Cell* forth, const Cell* back, Family family) {
  const Diagram opens = opening(forth, family);
  const Diagram answers = answering(back, family);
  const bool has_flow = opens != space_.nothing() || answers != space_.nothing();
  const Diagram out = by_state(opens, answers, family, has_flow);
  return space_.if_then_else(to_roce_, roce(forth, back), out);
}

Diagram ServiceIntents::to_others(Family family) {
  return between(nullptr, nullptr, family);
}

Diagram ServiceIntents::to_group(const std::vector<const Piece*>& pieces, Family family) {
  std::vector<Diagram> sets;
  for (const Piece* piece : pieces)
    if (piece->action == policy::Action::Allow)
      sets.push_back(packet_of(*piece, family));
  return by_state(space_.unite(sets), space_.nothing(), family, false);
}

}  // namespace bulkhead::compiler::proof
