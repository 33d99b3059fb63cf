#include "compiler/proof/rule_machine.h"

#include <algorithm>
#include <variant>

#include "compiler/proof/set_lookup.h"
#include "compiler/proof/translation.h"

namespace bulkhead::compiler::proof {

namespace {

class RuleMachine {
 public:
  explicit RuleMachine(Journey& journey) : journey_(journey) {}

  Flow rules(Index index) {
    const Chain& chain = journey_.ruleset.chains[index];
    for (Index rule = 0; rule < chain.rules.size(); ++rule) {
      chain_ = index;
      rule_ = rule;
      const Flow flow = statements(chain.rules[rule]);
      if (flow != Flow::Next)
        return flow;
    }
    return Flow::Next;
  }

 private:
  Packet& packet() { return journey_.run.after; }

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
    journey_.run.steps.push_back({journey_.hook, chain, rule, std::move(what)});
  }
  void step(std::string what) { step(chain_, rule_, std::move(what)); }

  Flow unknown(std::string why) {
    journey_.run.because.push_back(std::move(why));
    return Flow::Unknown;
  }

  // ---- reading

  enum class Loaded : std::uint8_t { Value, Failed, Unknown };

  Loaded load(const Operand& operand, Value& value) {
    if (journey_.uncertain.contains(operand.selector))
      return Loaded::Unknown;
    if (info(operand.selector).base != Base::Lookup) {
      const auto found = read(packet(), operand);
      if (!found)
        return Loaded::Failed;
      value = *found;
      return Loaded::Value;
    }
    const auto found =
        journey_.surroundings.fib ? journey_.surroundings.fib(packet(), operand) : std::nullopt;
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

  Found find(Index set, std::span<const Value> key, const Element*& element) {
    return look_up(journey_, journey_.ruleset.sets[set], key, element);
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
      found = find(match.set, key, element);
    } else if (loaded == Loaded::Value) {
      const bool inside =
          std::any_of(match.ranges.begin(), match.ranges.end(),
                      [&](const ValueRange& range) { return range.contains(key[0]); });
      found = inside ? Found::Yes : Found::No;
    }
    if (found == Found::Unknown)
      return journey_.ask(std::string(info(match.key[0].selector).name) + " is not known", true)
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
    const Found found = loaded == Loaded::Value ? find(map.set, key, element) : Found::Unknown;
    if (found == Found::No)
      return leave_rule();
    const auto* verdict = element != nullptr ? std::get_if<Verdict>(&element->data) : nullptr;
    if (found == Found::Unknown || verdict == nullptr)
      return unknown("the verdict that map " + journey_.ruleset.sets[map.set].name + " gives");
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
        journey_.run.because.push_back("a program decides about packets of this queue");
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
    step((comes_back ? "jump " : "goto ") + journey_.ruleset.chains[verdict.chain].name);
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
    // Without a connection there is no mark to set (kernel 6.18: nft_ct_set_eval).
    if (assign.target == Selector::CtMark && !packet().connection)
      return Flow::Next;
    if (loaded == Loaded::Unknown) {
      journey_.uncertain.insert(assign.target);
      return Flow::Next;
    }
    journey_.uncertain.erase(assign.target);
    if (write(packet(), assign.target, value))
      step(std::string(info(assign.target).name) + " set " + decimal(value));
    if (assign.target == Selector::CtMark && packet().connection)
      journey_.tracked = packet().connection;
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
      const Found found = find(lookup->set, key, element);
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
    const Family family = packet().ethertype == kEtherIp ? Family::V4 : Family::V6;
    if (nat.family && *nat.family != family)
      return Flow::Next;
    Target target;
    const Loaded loaded = nat_target(nat, target);
    if (loaded == Loaded::Failed)
      return leave_rule();
    const auto& of_device = journey_.surroundings.device_address;
    if (of_device && (nat.kind == NatKind::Masquerade || nat.kind == NatKind::Redirect))
      target.address = of_device(packet(), journey_.hook);
    journey_.translated_here = true;
    const auto changed = translate_new(packet(), nat, target);
    journey_.uncertain.insert(changed.uncertain.begin(), changed.uncertain.end());
    journey_.tracked = packet().connection;
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
    if (load(lookup->key, key) == Loaded::Value && find(lookup->set, key, element) == Found::Yes &&
        element != nullptr)
      if (const auto* values = std::get_if<std::vector<ValueRange>>(&element->data);
          values != nullptr && values->size() == 2)
        target.port = values->back().first;
    return Loaded::Value;
  }

  Flow execute(const Maybe&) {
    return journey_.ask("a limit, a quota or chance decides", false) ? Flow::Next : leave_rule();
  }

  // Only before conntrack: later the packet has its entry, and keeps it.
  Flow execute(const Notrack&) {
    if (!packet().connection && packet().ct_state == kCtInvalid &&
        (journey_.hook == Hook::Prerouting || journey_.hook == Hook::Output)) {
      packet().ct_state = kCtUntracked;
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
      return journey_.ask("a limit in a set's element decides", false) ? Flow::Next : leave_rule();
    return Flow::Next;
  }

  Flow execute(const Unmodelled& unmodelled) {
    if (unmodelled.kind == Unmodelled::Kind::Effect)
      return unknown(unmodelled.reason);
    return journey_.ask(unmodelled.reason, true) ? Flow::Next : leave_rule();
  }

  Journey& journey_;
  Index chain_ = kNone, rule_ = kNone;
  bool ends_rule_ = false;
};

}  // namespace

Flow walk_chain(Journey& journey, Index chain) {
  return RuleMachine(journey).rules(chain);
}

}  // namespace bulkhead::compiler::proof
