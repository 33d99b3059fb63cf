#include "compiler/proof/interpret.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "compiler/proof/choices.h"
#include "compiler/proof/translation.h"

namespace bulkhead::compiler::proof {

namespace {

constexpr std::size_t kMostRuns = 4096;

// Where conntrack looks a packet up (NF_IP_PRI_CONNTRACK). Before it no chain sees a state.
constexpr std::int32_t kConntrack = -200;

// How a list of statements or rules ended.
enum class Flow : std::uint8_t {
  Next,    // the rule is done, or did not match
  Return,  // back to the calling chain
  Accept,
  Drop,
  Reject,
  Queue,
  Unknown,
};

// One run: one answer to every open question.
class Machine {
 public:
  Machine(const Ruleset& ruleset, const Packet& packet, const Surroundings& surroundings,
          Choices& choices)
      : ruleset_(ruleset), surroundings_(surroundings), choices_(choices) {
    run_.after = packet;
    tracked_state_ = packet.ct_state;
    tracked_ = packet.connection;
  }

  Run go(std::span<const Station> way) && {
    in_ = run_.after.in;
    out_ = run_.after.out;
    if (skips_by_flowtable(way))
      return std::move(run_);
    for (const Station& station : way) {
      const Flow flow = pass(station);
      if (flow == Flow::Next)
        continue;
      run_.outcome = flow == Flow::Drop     ? Outcome::Drop
                     : flow == Flow::Reject ? Outcome::Reject
                     : flow == Flow::Queue  ? Outcome::Either
                                            : Outcome::Unknown;
      break;
    }
    run_.after.in = in_;
    run_.after.out = out_;
    return std::move(run_);
  }

  [[nodiscard]] bool guessed() const { return guessed_; }

 private:
  // ---- open questions

  bool ask(std::string why, bool is_guess) {
    guessed_ |= is_guess;
    run_.because.push_back(std::move(why));
    return choices_.next();
  }
  Flow unknown(std::string why) {
    run_.because.push_back(std::move(why));
    return Flow::Unknown;
  }

  bool skips_by_flowtable(std::span<const Station> way) {
    const bool forwarded = std::any_of(way.begin(), way.end(), [](const Station& station) {
      return station.hook == Hook::Forward;
    });
    if (!forwarded || run_.after.ct_state != kCtEstablished)
      return false;
    for (const Chain& chain : ruleset_.chains)
      for (const Rule& rule : chain.rules)
        for (const Statement& statement : rule.statements)
          if (std::holds_alternative<FlowOffload>(statement))
            return ask("the connection may be in a flow table, past all rules", false);
    return false;
  }

  // ---- hooks and chains

  Flow pass(const Station& station) {
    hook_ = station.hook;
    const bool before_routing = hook_ == Hook::Ingress || hook_ == Hook::Prerouting;
    run_.after.in = hook_ == Hook::Output ? std::nullopt : in_;
    run_.after.out = before_routing || hook_ == Hook::Input ? std::nullopt : out_;
    if (hook_ == Hook::Forward)
      count_hop();
    translated_here_ = false;
    const bool starts = hook_ == Hook::Prerouting || hook_ == Hook::Output;
    if (hook_ == Hook::Ingress || starts)
      hide_connection();
    bool looked_up = !starts;
    bool translated = false;
    for (const Index chain : chains_at(ruleset_, station.family, hook_)) {
      const std::int32_t priority = effective_priority(*ruleset_.chains[chain].base);
      if (!looked_up && priority >= kConntrack) {
        look_up_connection();
        looked_up = true;
      }
      if (!translated && looked_up && priority >= translation_priority(hook_)) {
        translated = true;
        translate_known(run_.after, hook_);
      }
      const Flow flow = base_chain(chain);
      if (flow != Flow::Next)
        return flow;
    }
    if (!looked_up && hook_ != Hook::Ingress)
      look_up_connection();
    if (!translated && hook_ != Hook::Ingress && hook_ != Hook::Egress)
      translate_known(run_.after, hook_);
    return Flow::Next;
  }

  // The kernel counts the hop before it asks the forward hook (6.18: ip_forward, ip6_forward).
  void count_hop() {
    const Selector hops =
        run_.after.ethertype == kEtherIp ? Selector::Ip4Ttl : Selector::Ip6HopLimit;
    if (const auto left = read(run_.after, {hops, {}, {}}); left && *left > 0)
      write(run_.after, hops, *left - 1);
  }

  void hide_connection() {
    run_.after.connection.reset();
    run_.after.ct_state = kCtInvalid;
  }
  void look_up_connection() {
    if (run_.after.ct_state == kCtUntracked)
      return;
    run_.after.connection = tracked_;
    run_.after.ct_state = tracked_state_;
  }

  Flow base_chain(Index index) {
    const Chain& chain = ruleset_.chains[index];
    const Table& table = ruleset_.table_of(chain);
    if (table.dormant)
      return Flow::Next;
    if (table.maybe_dormant && !awake(chain.table))
      return Flow::Next;
    if (!on_device(*chain.base))
      return Flow::Next;
    const bool is_nat = chain.base->type == ChainType::Nat;
    if (is_nat && (translated_here_ || !run_.after.connection || run_.after.ct_state != kCtNew ||
                   (run_.after.connection->status & kStatusConfirmed) != 0))
      return Flow::Next;
    const Flow flow = rules(index);
    if (flow == Flow::Accept)
      return Flow::Next;
    if (flow != Flow::Next && flow != Flow::Return)
      return flow;
    step(index, kNone, chain.base->policy_drop ? "policy drop" : "policy accept");
    return chain.base->policy_drop ? Flow::Drop : Flow::Next;
  }

  bool awake(Index table) {
    const auto [found, is_new] = awake_.try_emplace(table, true);
    if (is_new)
      found->second = ask("table " + ruleset_.tables[table].name + " may be dormant", true);
    return found->second;
  }

  bool on_device(const BaseChain& base) {
    if (base.hook != Hook::Ingress && base.hook != Hook::Egress)
      return true;
    const auto& device = base.hook == Hook::Ingress ? in_ : out_;
    if (!base.devices.empty())
      return device && std::find(base.devices.begin(), base.devices.end(), device->name) !=
                           base.devices.end();
    return ask("nft does not list the devices of this chain", true);
  }

  Flow rules(Index index) {
    const Chain& chain = ruleset_.chains[index];
    for (Index rule = 0; rule < chain.rules.size(); ++rule) {
      chain_ = index;
      rule_ = rule;
      const Flow flow = statements(chain.rules[rule]);
      if (flow != Flow::Next)
        return flow;
    }
    return Flow::Next;
  }

  Flow statements(const Rule& rule) {
    for (const Statement& statement : rule.statements) {
      ends_rule_ = false;
      const Flow flow = std::visit([this](const auto& what) { return execute(what); }, statement);
      if (flow != Flow::Next || ends_rule_)
        return flow;
    }
    return Flow::Next;
  }

  Flow leave_rule() {
    ends_rule_ = true;
    return Flow::Next;
  }

  void step(Index chain, Index rule, std::string what) {
    run_.steps.push_back({hook_, chain, rule, std::move(what)});
  }
  void step(std::string what) { step(chain_, rule_, std::move(what)); }

  // ---- reading

  enum class Loaded : std::uint8_t { Value, Failed, Unknown };

  Loaded load(const Operand& operand, Value& value) {
    if (uncertain_.contains(operand.selector))
      return Loaded::Unknown;
    if (info(operand.selector).base != Base::Lookup) {
      const auto found = read(run_.after, operand);
      if (!found)
        return Loaded::Failed;
      value = *found;
      return Loaded::Value;
    }
    const auto found = surroundings_.fib ? surroundings_.fib(run_.after, operand) : std::nullopt;
    if (!found)
      return Loaded::Unknown;
    value = (*found & operand.mask) ^ operand.flip;
    return Loaded::Value;
  }

  Loaded load(const Operands& key, std::vector<Value>& values) {
    Loaded worst = Loaded::Value;
    for (const Operand& operand : key) {
      Value value = 0;
      const Loaded loaded = load(operand, value);
      if (loaded == Loaded::Failed)
        return Loaded::Failed;
      if (loaded == Loaded::Unknown)
        worst = Loaded::Unknown;
      values.push_back(value);
    }
    return worst;
  }

  // ---- sets

  static bool holds(std::span<const ValueRange> ranges, std::span<const Value> key) {
    for (std::size_t i = 0; i < key.size(); ++i)
      if (!ranges[i].contains(key[i]))
        return false;
    return true;
  }

  enum class Found : std::uint8_t { Yes, No, Unknown };

  // The element for the key.
  Found find(const Set& set, std::span<const Value> key, const Element*& element) {
    if (!set.unmodelled.empty()) {
      run_.because.push_back("set " + set.name + ": " + set.unmodelled);
      return Found::Unknown;
    }
    element = nullptr;
    const Element* any = nullptr;
    for (std::size_t i = 0; i < set.elements.size(); ++i) {
      const Element& candidate = set.elements[i];
      if (candidate.any) {
        any = &candidate;
      } else if (holds(set.key(i), key) && is_there(set, candidate)) {
        // Which of two overlapping elements was inserted first is not listed.
        if (element != nullptr && element->data != candidate.data) {
          run_.because.push_back("elements of set " + set.name + " overlap and differ");
          return Found::Unknown;
        }
        element = &candidate;
      }
    }
    if (element == nullptr && set.dynamic && !surroundings_.sets_as_listed &&
        ask("set " + set.name + " is filled by rules", true))
      return set.is_map ? Found::Unknown : Found::Yes;
    if (element == nullptr && any != nullptr && is_there(set, *any))
      element = any;
    if (element == nullptr)
      return Found::No;
    if (element->limited && !ask("an element of set " + set.name + " has a limit", false))
      return Found::No;
    return Found::Yes;
  }

  bool is_there(const Set& set, const Element& element) {
    if (surroundings_.sets_as_listed || !(element.expires || set.dynamic))
      return true;
    return ask("an element of set " + set.name + " may be gone", true);
  }

  // ---- statements

  Flow execute(const Match& match) {
    std::vector<Value> key;
    const Loaded loaded = load(match.key, key);
    if (loaded == Loaded::Failed)
      return leave_rule();
    Found found = Found::Unknown;
    if (loaded == Loaded::Value && match.set != kNone) {
      const Element* element = nullptr;
      found = find(ruleset_.sets[match.set], key, element);
    } else if (loaded == Loaded::Value) {
      const bool inside =
          std::any_of(match.ranges.begin(), match.ranges.end(),
                      [&](const ValueRange& range) { return range.contains(key[0]); });
      found = inside ? Found::Yes : Found::No;
    }
    if (found == Found::Unknown)
      return ask(std::string(info(match.key[0].selector).name) + " is not known", true)
                 ? Flow::Next
                 : leave_rule();
    return (found == Found::Yes) != match.negated ? Flow::Next : leave_rule();
  }

  Flow execute(const Decide& decide) {
    if (decide.verdict.kind == VerdictKind::Reject)
      step("reject with " + decide.reject_with);
    return follow(decide.verdict);
  }

  Flow execute(const VerdictMap& map) {
    std::vector<Value> key;
    const Loaded loaded = load(map.key, key);
    if (loaded == Loaded::Failed)
      return leave_rule();
    const Element* element = nullptr;
    const Found found =
        loaded == Loaded::Value ? find(ruleset_.sets[map.set], key, element) : Found::Unknown;
    if (found == Found::No)
      return leave_rule();
    const auto* verdict = element != nullptr ? std::get_if<Verdict>(&element->data) : nullptr;
    if (found == Found::Unknown || verdict == nullptr)
      return unknown("the verdict that map " + ruleset_.sets[map.set].name + " gives");
    return follow(*verdict);
  }

  Flow follow(const Verdict& verdict) {
    switch (verdict.kind) {
      case VerdictKind::Accept:
        step("accept");
        return Flow::Accept;
      case VerdictKind::Drop:
        step("drop");
        return Flow::Drop;
      case VerdictKind::Reject:
        return Flow::Reject;
      case VerdictKind::Queue:
        step("queue");
        run_.because.push_back("a program decides about packets of this queue");
        return Flow::Queue;
      case VerdictKind::Continue:
        return Flow::Next;
      case VerdictKind::Return:
        step("return");
        return Flow::Return;
      case VerdictKind::Jump:
      case VerdictKind::Goto:
        break;
    }
    const Index chain = chain_, rule = rule_;
    const bool comes_back = verdict.kind == VerdictKind::Jump;
    step((comes_back ? "jump " : "goto ") + ruleset_.chains[verdict.chain].name);
    Flow flow = rules(verdict.chain);
    chain_ = chain;
    rule_ = rule;
    if (flow != Flow::Next && flow != Flow::Return)
      return flow;
    // After a goto nothing is left of the calling chain: as if it had returned.
    return comes_back ? leave_rule() : Flow::Return;
  }

  Flow execute(const Assign& assign) {
    Value value = 0;
    const Loaded loaded = load(assign.value, value);
    if (loaded == Loaded::Failed)
      return leave_rule();
    if (loaded == Loaded::Unknown) {
      uncertain_.insert(assign.target);
      return Flow::Next;
    }
    uncertain_.erase(assign.target);
    if (write(run_.after, assign.target, value))
      step(std::string(info(assign.target).name) + " set " + decimal(value));
    if (assign.target == Selector::CtMark && run_.after.connection)
      tracked_ = run_.after.connection;
    return Flow::Next;
  }

  Loaded load(const Source& source, Value& value) {
    if (const auto* operand = std::get_if<Operand>(&source))
      return load(*operand, value);
    const std::vector<ValueRange>* ranges = std::get_if<std::vector<ValueRange>>(&source);
    if (const auto* lookup = std::get_if<Lookup>(&source)) {
      std::vector<Value> key;
      const Loaded loaded = load(lookup->key, key);
      if (loaded != Loaded::Value)
        return loaded;
      const Element* element = nullptr;
      const Found found = find(ruleset_.sets[lookup->set], key, element);
      if (found == Found::No)
        return Loaded::Failed;
      if (element != nullptr)
        ranges = std::get_if<std::vector<ValueRange>>(&element->data);
    }
    if (ranges == nullptr || ranges->empty())
      return Loaded::Unknown;
    value = ranges->front().first;
    return ranges->front().first == ranges->front().last ? Loaded::Value : Loaded::Unknown;
  }

  Flow execute(const Nat& nat) {
    const Family family = run_.after.ethertype == kEtherIp ? Family::V4 : Family::V6;
    if (nat.family && *nat.family != family)
      return Flow::Next;
    Target target;
    const Loaded loaded = nat_target(nat, target);
    if (loaded == Loaded::Failed)
      return leave_rule();
    translated_here_ = true;
    const auto changed = translate_new(run_.after, nat, target);
    uncertain_.insert(changed.uncertain.begin(), changed.uncertain.end());
    tracked_ = run_.after.connection;
    step(changed.what);
    return Flow::Accept;
  }

  // An address and a port, each known, unknown, or not said.
  Loaded nat_target(const Nat& nat, Target& target) {
    const auto part = [&](const std::optional<Source>& source, std::optional<Value>& value,
                          bool& is_unknown) {
      if (!source)
        return Loaded::Value;
      Value found = 0;
      const Loaded loaded = load(*source, found);
      if (loaded == Loaded::Value)
        value = found;
      is_unknown = loaded == Loaded::Unknown;
      return loaded;
    };
    if (part(nat.address, target.address, target.unknown_address) == Loaded::Failed ||
        part(nat.port, target.port, target.unknown_port) == Loaded::Failed)
      return Loaded::Failed;
    const auto* lookup = nat.address ? std::get_if<Lookup>(&*nat.address) : nullptr;
    if (lookup == nullptr)
      return Loaded::Value;
    // A map's element may carry the port as well.
    std::vector<Value> key;
    const Element* element = nullptr;
    if (load(lookup->key, key) == Loaded::Value &&
        find(ruleset_.sets[lookup->set], key, element) == Found::Yes && element != nullptr)
      if (const auto* values = std::get_if<std::vector<ValueRange>>(&element->data);
          values != nullptr && values->size() == 2)
        target.port = values->back().first;
    return Loaded::Value;
  }

  Flow execute(const Maybe&) {
    return ask("a limit, a quota or chance decides", false) ? Flow::Next : leave_rule();
  }

  // Only before conntrack: later the packet has its entry, and keeps it.
  Flow execute(const Notrack&) {
    if (!run_.after.connection && run_.after.ct_state == kCtInvalid &&
        (hook_ == Hook::Prerouting || hook_ == Hook::Output)) {
      run_.after.ct_state = kCtUntracked;
      step("notrack");
    }
    return Flow::Next;
  }

  Flow execute(const FlowOffload&) { return Flow::Next; }
  Flow execute(const NoEffect&) { return Flow::Next; }

  Flow execute(const UpdateSet& update) {
    std::vector<Value> key;
    if (load(update.key, key) == Loaded::Failed)
      return leave_rule();
    if (update.limited)
      return ask("a limit in a set's element decides", false) ? Flow::Next : leave_rule();
    return Flow::Next;
  }

  Flow execute(const Unmodelled& unmodelled) {
    if (unmodelled.kind == Unmodelled::Kind::Effect)
      return unknown(unmodelled.reason);
    return ask(unmodelled.reason, true) ? Flow::Next : leave_rule();
  }

  const Ruleset& ruleset_;
  const Surroundings& surroundings_;
  Choices& choices_;
  Run run_;
  std::optional<Device> in_, out_;
  Hook hook_ = Hook::Prerouting;
  Index chain_ = kNone, rule_ = kNone;
  bool ends_rule_ = false;
  bool guessed_ = false;
  bool translated_here_ = false;
  std::uint8_t tracked_state_ = kCtNew;
  std::optional<Connection> tracked_;
  std::set<Selector> uncertain_;
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
    Machine machine(ruleset, packet, surroundings, choices);
    Run run = std::move(machine).go(way);
    guessed |= machine.guessed();
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
