#include "compiler/proof/interpret.h"

#include <algorithm>
#include <array>
#include <map>

#include "compiler/proof/priorities.h"
#include "compiler/proof/rule_machine.h"
#include "compiler/proof/translation.h"

namespace bulkhead::compiler::proof {

namespace {

constexpr std::size_t kMostRuns = 4096;

// One run from hook to hook: with one answer to every open question.
class Way {
 public:
  Way(const Ruleset& ruleset, const Packet& packet, const Surroundings& surroundings,
      Choices& choices)
      : journey_(ruleset, surroundings, choices), tracked_state_(packet.ct_state) {
    journey_.run.after = packet;
    journey_.tracked = packet.connection;
  }

  Run go(std::span<const Station> way) && {
    in_ = packet().in;
    out_ = packet().out;
    if (skips_by_flowtable(way))
      return std::move(journey_.run);
    for (const Station& station : way) {
      const Flow flow = pass(station);
      if (flow == Flow::Next)
        continue;
      journey_.run.outcome = flow == Flow::Drop     ? Outcome::Drop
                             : flow == Flow::Reject ? Outcome::Reject
                             : flow == Flow::Queue  ? Outcome::Either
                                                    : Outcome::Unknown;
      break;
    }
    packet().in = in_;
    packet().out = out_;
    return std::move(journey_.run);
  }

  [[nodiscard]] bool guessed() const { return journey_.guessed; }

 private:
  Packet& packet() { return journey_.run.after; }
  [[nodiscard]] Hook hook() const { return journey_.hook; }

  bool skips_by_flowtable(std::span<const Station> way) {
    const bool forwarded = std::any_of(way.begin(), way.end(), [](const Station& station) {
      return station.hook == Hook::Forward;
    });
    if (!forwarded || packet().ct_state != kCtEstablished)
      return false;
    for (const Chain& chain : journey_.ruleset.chains)
      for (const Rule& rule : chain.rules)
        for (const Statement& statement : rule.statements)
          if (std::holds_alternative<FlowOffload>(statement))
            return journey_.ask("the connection may be in a flow table, past all rules", false);
    return false;
  }

  // ---- hooks and chains

  Flow pass(const Station& station) {
    journey_.hook = station.hook;
    const bool before_routing = hook() == Hook::Ingress || hook() == Hook::Prerouting;
    // Kernel 6.18: br_forward_finish tells where the frame goes, not where it came from.
    const bool is_frame = station.family == TableFamily::Bridge;
    const bool has_left = is_frame && hook() == Hook::Postrouting;
    packet().in = hook() == Hook::Output || has_left ? std::nullopt : in_;
    packet().out = before_routing || hook() == Hook::Input ? std::nullopt : out_;
    if (hook() == Hook::Forward && !is_frame)
      count_hop();
    journey_.translated_here = false;
    const bool starts = hook() == Hook::Prerouting || hook() == Hook::Output;
    if (hook() == Hook::Ingress || starts)
      hide_connection();
    bool looked_up = !starts;
    bool translated = false;
    for (const Index chain : chains_at(journey_.ruleset, station.family, hook())) {
      const std::int32_t priority = effective_priority(*journey_.ruleset.chains[chain].base);
      if (!looked_up && priority >= kConntrack) {
        look_up_connection();
        looked_up = true;
      }
      if (!translated && looked_up && priority >= translation_priority(hook())) {
        translated = true;
        translate_known(packet(), hook());
      }
      const Flow flow = base_chain(chain);
      if (flow != Flow::Next)
        return flow;
    }
    if (!looked_up && hook() != Hook::Ingress)
      look_up_connection();
    if (!translated && hook() != Hook::Ingress && hook() != Hook::Egress)
      translate_known(packet(), hook());
    return Flow::Next;
  }

  // The kernel counts the hop before it asks the forward hook (6.18: ip_forward, ip6_forward).
  void count_hop() {
    const Selector hops = packet().ethertype == kEtherIp ? Selector::Ip4Ttl : Selector::Ip6HopLimit;
    if (const auto left = read(packet(), {hops, {}, {}}); left && *left > 0)
      write(packet(), hops, *left - 1);
  }

  void hide_connection() {
    packet().connection.reset();
    packet().ct_state = kCtInvalid;
  }
  void look_up_connection() {
    if (packet().ct_state == kCtUntracked)
      return;
    packet().connection = journey_.tracked;
    packet().ct_state = tracked_state_;
  }

  Flow base_chain(Index index) {
    const Chain& chain = journey_.ruleset.chains[index];
    const Table& table = journey_.ruleset.table_of(chain);
    if (table.dormant)
      return Flow::Next;
    if (table.maybe_dormant && !awake(chain.table))
      return Flow::Next;
    if (!on_device(*chain.base))
      return Flow::Next;
    const bool is_nat = chain.base->type == ChainType::Nat;
    if (is_nat &&
        (journey_.translated_here || !packet().connection || packet().ct_state != kCtNew ||
         (packet().connection->status & kStatusConfirmed) != 0))
      return Flow::Next;
    const Flow flow = walk_chain(journey_, index);
    if (flow == Flow::Accept)
      return Flow::Next;
    if (flow != Flow::Next && flow != Flow::Return)
      return flow;
    journey_.run.steps.push_back(
        {hook(), index, kNone, chain.base->policy_drop ? "policy drop" : "policy accept"});
    return chain.base->policy_drop ? Flow::Drop : Flow::Next;
  }

  bool awake(Index table) {
    const auto [found, is_new] = awake_.try_emplace(table, true);
    if (is_new)
      found->second =
          journey_.ask("table " + journey_.ruleset.tables[table].name + " may be dormant", true);
    return found->second;
  }

  bool on_device(const BaseChain& base) {
    if (base.hook != Hook::Ingress && base.hook != Hook::Egress)
      return true;
    const auto& device = base.hook == Hook::Ingress ? in_ : out_;
    if (!base.devices.empty())
      return device && std::find(base.devices.begin(), base.devices.end(), device->name) !=
                           base.devices.end();
    return journey_.ask("nft does not list the devices of this chain", true);
  }

  Journey journey_;
  std::optional<Device> in_, out_;
  std::uint8_t tracked_state_ = kCtNew;
  std::map<Index, bool> awake_;
};

std::vector<Station> way_of(TableFamily family, std::initializer_list<Hook> hooks) {
  std::vector<Station> way;
  for (const Hook hook : hooks)
    way.push_back(
        {hook == Hook::Ingress || hook == Hook::Egress ? TableFamily::Netdev : family, hook});
  return way;
}

}  // namespace

std::string_view to_string(Outcome outcome) {
  constexpr std::array<std::string_view, 5> kNames{"accept", "drop", "reject", "either", "unknown"};
  return kNames[static_cast<std::size_t>(outcome)];
}

std::vector<Station> forward_way(TableFamily family) {
  return way_of(family,
                {Hook::Ingress, Hook::Prerouting, Hook::Forward, Hook::Postrouting, Hook::Egress});
}
std::vector<Station> input_way(TableFamily family) {
  return way_of(family, {Hook::Ingress, Hook::Prerouting, Hook::Input});
}
std::vector<Station> output_way(TableFamily family) {
  return way_of(family, {Hook::Output, Hook::Postrouting, Hook::Egress});
}

Answer interpret(const Ruleset& ruleset, const Packet& packet, std::span<const Station> way,
                 const Surroundings& surroundings) {
  Answer answer;
  Choices choices;
  bool guessed = false;
  std::size_t runs = 0;
  do {
    Way one(ruleset, packet, surroundings, choices);
    Run run = std::move(one).go(way);
    guessed |= one.guessed();
    const bool known = std::any_of(answer.runs.begin(), answer.runs.end(),
                                   [&](const Run& other) { return other.outcome == run.outcome; });
    if (!known)
      answer.runs.push_back(std::move(run));
  } while (++runs < kMostRuns && choices.advance());
  const auto ends = [&](Outcome outcome) {
    return std::any_of(answer.runs.begin(), answer.runs.end(),
                       [&](const Run& run) { return run.outcome == outcome; });
  };
  if (runs == kMostRuns || ends(Outcome::Unknown) || (guessed && answer.runs.size() > 1))
    answer.outcome = Outcome::Unknown;
  else if (answer.runs.size() > 1)
    answer.outcome = Outcome::Either;
  else
    answer.outcome = answer.runs.front().outcome;
  return answer;
}

}  // namespace bulkhead::compiler::proof
