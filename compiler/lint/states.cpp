// What connection tracking is asked, and what passes because it is not.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/lint/passing.h"
#include "compiler/proof/example.h"
#include "compiler/proof/reading.h"

namespace bulkhead::compiler::lint {

namespace {

using namespace proof;

constexpr Field kOfConnections[] = {Field::CtState, Field::CtDirection, Field::CtStatus,
                                    Field::CtMark,  Field::CtZone,      Field::CtProtocol};

// Whatever the connection: the packets that pass in that state.
Diagram whatever_connection(Diagrams& space, Diagram packets) {
  for (const Field field : kOfConnections)
    packets = space.exists(packets, field);
  return packets;
}

struct AsksState {
  const Ruleset& ruleset;
  bool& state;    // any
  bool& invalid;  // that one

  void key(const Operands& key, Index set) const {
    for (std::size_t part = 0; part < key.size(); ++part) {
      if (key[part].selector != Selector::CtState)
        continue;
      state = true;
      if (set == kNone)
        continue;
      const Set& here = ruleset.sets[set];
      for (std::size_t i = 0; i < here.elements.size(); ++i)
        invalid |= here.key(i)[part].contains(kCtInvalid);
    }
  }
  void operator()(const Match& match) const {
    key(match.key, match.set);
    const Operand& first = match.key.front();
    if (match.set != kNone || first.selector != Selector::CtState)
      return;
    const bool is_mask = (first.mask & greatest(32)) != greatest(32);
    invalid |= is_mask ? (first.mask & kCtInvalid) != 0
                       : std::any_of(match.ranges.begin(), match.ranges.end(),
                                     [](const ValueRange& r) { return r.contains(kCtInvalid); });
  }
  void operator()(const VerdictMap& map) const { key(map.key, map.set); }
  template <class Other>
  void operator()(const Other&) const {}
};

void invalid(Context& context, Passage passage, Findings& out) {
  Diagrams& space = context.space;
  const Hook at = passage == Passage::Forward ? Hook::Forward : Hook::Input;
  if (filters(context.ruleset, TableFamily::Ip, at).empty() &&
      filters(context.ruleset, TableFamily::Ip6, at).empty())
    return;
  const Diagram passes = at_hook(context, passage).passes;
  const Diagram bad = space.intersect(passes, in_state(context, CtState::Invalid));
  if (bad == space.nothing())
    return;
  const std::string place = fmt::format("the {} hook", to_string(at));
  const Diagram fresh = space.intersect(passes, in_state(context, CtState::New));
  const Diagram more =
      space.subtract(whatever_connection(space, bad), whatever_connection(space, fresh));
  if (more != space.nothing()) {
    add(out, "invalid-passes", Severity::Warning, place,
        fmt::format("packets that conntrack calls invalid pass where a new connection would not{}",
                    for_example(context, space.intersect(more, bad))),
        "drop `ct state invalid` first");
    return;
  }
  const bool translates = std::any_of(
      context.ruleset.chains.begin(), context.ruleset.chains.end(),
      [](const Chain& chain) { return chain.base && chain.base->type == ChainType::Nat; });
  if (!translates)
    return;
  bool asks_state = false, asks_invalid = false;
  for (const Chain& chain : context.ruleset.chains)
    for (const Rule& rule : chain.rules)
      for (const Statement& statement : rule.statements)
        std::visit(AsksState{context.ruleset, asks_state, asks_invalid}, statement);
  if (asks_state && !asks_invalid)
    add(out, "invalid-unhandled", Severity::Note, place,
        "no rule asks `ct state invalid`: such packets pass where a new connection does, and no "
        "translation reaches them: they keep the address from before",
        "drop `ct state invalid` first");
}

// The answer to a request, as it comes back through the same machine.
Packet answer_to(const Example& request) {
  PacketFacts facts = request.facts;
  std::swap(facts.from, facts.to);
  std::swap(facts.sport, facts.dport);
  facts.tcp_flags = 0x12;  // SYN and ACK
  Packet packet = request.packet;
  packet.bytes = bytes_of(facts);
  std::swap(packet.in, packet.out);
  packet.port.reset();
  packet.ct_state = kCtEstablished;
  if (packet.connection) {
    packet.connection->reply = true;
    packet.connection->status = kStatusSeenReply | kStatusConfirmed;
  }
  return packet;
}

// A request that passes while its answer does not: half of a flow.
void answers(Context& context, Findings& out) {
  constexpr Value kTcp = 6;
  Diagrams& space = context.space;
  const HookPackets& packets = at_hook(context, Passage::Forward);
  const Diagram requests =
      space.intersect(space.intersect(packets.passes, in_state(context, CtState::New)),
                      space.equal(Field::Protocol, kTcp));
  const auto request = example_of(space, requests);
  if (!request || !request->is_exact ||
      space.at(packets.stops, values_of(answer_to(*request))) == 0)
    return;
  add(out, "no-answers", Severity::Error, "the forward hook",
      fmt::format("a request passes, and its answer does not ({})", to_string(*request)),
      "accept `ct state established ct direction reply`");
}

bool asks(const Rule& rule, Selector selector) {
  return std::any_of(rule.statements.begin(), rule.statements.end(), [&](const Statement& what) {
    const auto* match = std::get_if<Match>(&what);
    return match != nullptr &&
           std::any_of(match->key.begin(), match->key.end(),
                       [&](const Operand& operand) { return operand.selector == selector; });
  });
}

}  // namespace

void states(Context& context, Findings& out) {
  invalid(context, Passage::Forward, out);
  invalid(context, Passage::Input, out);
  answers(context, out);
}

// "tcp sport 80 accept": who sends from that port reaches every port.
void source_ports(Context& context, Findings& out) {
  if (context.reach.empty())
    return;
  Diagrams& space = context.space;
  constexpr Value kTcp = 6, kUdp = 17;
  // First packets: of TCP a SYN.
  const Diagram first =
      space.intersect(in_state(context, CtState::New),
                      space.if_then_else(space.equal(Field::Protocol, kTcp),
                                         space.in(Field::QueuePair, {0x020000, 0x02ffff}),
                                         space.equal(Field::Protocol, kUdp)));
  for (Index chain = 0; chain < context.ruleset.chains.size(); ++chain)
    for (Index rule = 0; rule < context.ruleset.chains[chain].rules.size(); ++rule) {
      if (!asks(context.ruleset.chains[chain].rules[rule], Selector::ThSport))
        continue;
      const Diagram does = context.rules.rule({chain, rule});
      const Diagram accepts = space.where(does, [&](Terminal t) {
        const Ending& ending = context.endings.at(t);
        return std::any_of(ending.ways.begin(), ending.ways.end(),
                           [](const Way& way) { return way.end == End::Accept; });
      });
      // By the rule itself: that others took some ports before does not make it one of answers.
      const Diagram all = space.intersect(accepts, first);
      const Diagram open = space.intersect(all, context.reach[chain].comes[rule].packets(space));
      Diagram ports = all;
      for (const Field field : space.asked(all))
        if (field != Field::DestinationPort)
          ports = space.exists(ports, field);
      if (open != space.nothing() && ports == space.everything())
        add_rule(context, out, "source-port-opens", Severity::Error, {chain, rule},
                 fmt::format("whoever sends from that port reaches every port with a new "
                             "connection{}",
                             for_example(context, open)),
                 "accept answers by `ct state established`, not by their source port");
    }
}

}  // namespace bulkhead::compiler::lint
