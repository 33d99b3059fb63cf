#include "random_ruleset.h"

#include <rapidcheck.h>

#include <algorithm>
#include <initializer_list>

namespace bulkhead::compiler::proof::test {

namespace {

int upto(int last) {
  return *rc::gen::inRange(0, last + 1);
}
bool maybe() {
  return upto(1) == 1;
}
template <class T>
T one_of(std::initializer_list<T> list) {
  return *(list.begin() + upto(static_cast<int>(list.size()) - 1));
}

constexpr Value kNet4 = 0x0a000000;
constexpr Value kNet6 = Value{0xfd00} << 112;

// A selector, the values that packets have there, and the match that nft implies before it.
struct Source {
  Selector selector;
  std::vector<Value> values;
  Value nfproto = 0;
};
const std::vector<Source>& sources() {
  static const std::vector<Source> all{
      {Selector::Ip4Saddr, {kNet4 + 1, kNet4 + 2, kNet4 + 3}, 2},
      {Selector::Ip4Daddr, {kNet4 + 1, kNet4 + 2, kNet4 + 3}, 2},
      {Selector::Ip6Saddr, {kNet6 + 1, kNet6 + 2, kNet6 + 3}, 10},
      {Selector::Ip6Daddr, {kNet6 + 1, kNet6 + 2, kNet6 + 3}, 10},
      {Selector::Ip4Protocol, {1, 6, 17}, 2},
      {Selector::Ip4FragOff, {0, 0x2000, 0x4000, 0x2001}, 2},
      {Selector::Ip6NextHeader, {6, 17, 44}, 10},
      {Selector::ExtFragment, {0, 1}},
      {Selector::FragmentOffset, {0, 1}},
      {Selector::FragmentMore, {0, 1}},
      {Selector::MetaL4proto, {1, 6, 17, 58}},
      {Selector::MetaNfproto, {2, 10}},
      {Selector::MetaProtocol, {kEtherIp, kEtherIp6}},
      {Selector::ThSport, {22, 80, 0x0800}},
      {Selector::ThDport, {22, 80, 443}},
      {Selector::TcpFlags, {2, 0x10, 0x12}},
      {Selector::IcmpType, {0, 3, 8}},
      {Selector::IcmpCode, {0, 22, 80}},
      {Selector::BthDestQp, {1, 0x020000}},
      {Selector::MetaIifname, {interface_name("l0"), interface_name("l1"), 0}},
      {Selector::MetaOifname, {interface_name("l0"), interface_name("l1"), 0}},
      {Selector::MetaOif, {0}},
      {Selector::MetaIifgroup, {0, 1}},
      {Selector::MetaMark, {0, 1, 2, 0x100}},
      {Selector::CtState, {kCtInvalid, kCtEstablished, kCtRelated, kCtNew, kCtUntracked}},
      {Selector::CtDirection, {0, 1}},
      {Selector::CtMark, {0, 1, 2}},
      {Selector::CtStatus, {0, 2, 0x20}},
      {Selector::CtOriginalDaddr4, {kNet4 + 1, kNet4 + 2}},
      {Selector::CtOriginalDport, {22, 80}},
      {Selector::CtProtocol, {6, 17}},
      {Selector::EtherType, {kEtherIp, kEtherIp6}},
      {Selector::MetaSkuid, {0, 1}},
  };
  return all;
}

Value value_of(const Source& source) {
  return source.values[static_cast<std::size_t>(upto(static_cast<int>(source.values.size()) - 1))];
}

ValueRange any_range(const Source& source) {
  Value a = value_of(source), b = maybe() ? value_of(source) : a;
  return {std::min(a, b), std::max(a, b)};
}

class Maker {
 public:
  explicit Maker(bool with_nat) : with_nat_(with_nat) {}

  Ruleset make() {
    out_.tables.push_back({TableFamily::Inet, "t"});
    constexpr Hook kHooks[] = {Hook::Prerouting, Hook::Input, Hook::Forward, Hook::Output,
                               Hook::Postrouting};
    const int base = 1 + upto(3);
    chains_ = static_cast<Index>(base + 2);
    out_.chains.resize(chains_);
    for (Index i = 0; i < chains_; ++i) {
      Chain& chain = out_.chains[i];
      chain.name = "c" + std::to_string(i);
      chain.table = 0;
      BaseChain made;
      made.hook = kHooks[upto(4)];
      made.priority = one_of({-300, -150, 0, 0, 10});
      made.policy_drop = upto(3) == 0;
      if (with_nat_ && made.hook != Hook::Forward && maybe()) {
        made.type = ChainType::Nat;
        made.priority = -100;
        made.policy_drop = false;
      }
      if (i < static_cast<Index>(base))
        chain.base = made;
      at_ = i;
      for (int rules = upto(4); rules > 0; --rules)
        chain.rules.push_back(rule());
    }
    return out_;
  }

 private:
  Rule rule() {
    Rule rule;
    statements_ = &rule.statements;
    for (int matches = upto(2); matches > 0; --matches)
      match();
    switch (upto(14)) {
      case 0:
        rule.statements.push_back(Maybe{});
        break;
      case 1:
        rule.statements.push_back(Unmodelled{});
        break;
      case 2:
        if (upto(3) == 0)
          rule.statements.push_back(Unmodelled{Unmodelled::Kind::Effect, {}, {}});
        break;
      case 3:
        if (!out_.chains[at_].base || out_.chains[at_].base->hook == Hook::Prerouting)
          rule.statements.push_back(Notrack{});
        break;
      case 4:
      case 5:
      case 6:
        assign();
        break;
      case 7:
        verdict_map();
        break;
      case 8:
        if (is_nat()) {
          nat();
          return rule;
        }
        break;
      default:
        break;
    }
    if (maybe())
      rule.statements.push_back(Decide{verdict(), {}, false});
    else if (maybe())
      match();
    return rule;
  }

  bool is_nat() const {
    const auto& base = out_.chains[at_].base;
    return base && base->type == ChainType::Nat;
  }

  Verdict verdict() {
    const auto kind =
        one_of({VerdictKind::Accept, VerdictKind::Drop, VerdictKind::Continue, VerdictKind::Return,
                VerdictKind::Jump, VerdictKind::Goto, VerdictKind::Reject, VerdictKind::Queue});
    if (kind != VerdictKind::Jump && kind != VerdictKind::Goto)
      return {kind};
    // Only to later chains without a hook: no loops.
    if (at_ + 1 >= chains_)
      return {VerdictKind::Drop};
    return {kind, std::max(at_ + 1, chains_ - 1 - static_cast<Index>(upto(1)))};
  }

  const Source& source() {
    const auto& all = sources();
    const Source& chosen = all[static_cast<std::size_t>(upto(static_cast<int>(all.size()) - 1))];
    if (chosen.nfproto != 0) {
      Match implied;
      implied.key.resize(1);
      implied.key[0].selector = Selector::MetaNfproto;
      implied.ranges = {{chosen.nfproto, chosen.nfproto}};
      implied.implied = true;
      statements_->push_back(implied);
    }
    return chosen;
  }

  Operand operand(const Source& source, bool with_mask) {
    Operand out;
    out.selector = source.selector;
    // Which device has an index the model does not know; 0 is none.
    if (with_mask && source.selector != Selector::MetaOif && upto(3) == 0) {
      out.mask = one_of<Value>({1, 0xff, 0xfffe, 0x12});
      out.flip = one_of<Value>({0, 0, 1});
    }
    return out;
  }

  void match() {
    Match match;
    match.negated = maybe();
    if (maybe()) {
      const Source& from = source();
      match.key = {operand(from, true)};
      match.ranges = {any_range(from)};
      if (upto(3) == 0) {
        match.ranges.push_back(any_range(from));
        std::sort(match.ranges.begin(), match.ranges.end());
      }
    } else {
      match.set = any_set(match.key, [](Element&) {});
    }
    statements_->push_back(match);
  }

  template <class Fill>
  Index any_set(Operands& key, const Fill& fill) {
    Set set;
    set.table = 0;
    std::vector<const Source*> from;
    for (int width = 1 + upto(1); width > 0; --width) {
      from.push_back(&source());
      key.push_back(operand(*from.back(), upto(3) == 0));
    }
    set.width = key.size();
    for (int elements = upto(4); elements > 0; --elements) {
      std::vector<ValueRange> ranges;
      for (const Source* part : from)
        ranges.push_back(any_range(*part));
      bool overlaps = false;
      for (std::size_t other = 0; other < set.elements.size(); ++other) {
        bool all = true;
        for (std::size_t part = 0; part < ranges.size(); ++part)
          all &= ranges[part].first <= set.key(other)[part].last &&
                 set.key(other)[part].first <= ranges[part].last;
        overlaps |= all;
      }
      if (overlaps)
        continue;
      set.keys.insert(set.keys.end(), ranges.begin(), ranges.end());
      Element element;
      element.limited = upto(15) == 0;
      element.expires = upto(15) == 0;
      fill(element);
      set.elements.push_back(element);
    }
    set.dynamic = upto(15) == 0;
    out_.sets.push_back(set);
    return static_cast<Index>(out_.sets.size() - 1);
  }

  void verdict_map() {
    VerdictMap map;
    map.set = any_set(map.key, [&](Element& element) { element.data = verdict(); });
    out_.sets[map.set].is_map = true;
    statements_->push_back(map);
  }

  void assign() {
    Assign assign;
    assign.target = one_of({Selector::MetaMark, Selector::MetaMark, Selector::CtMark});
    const auto mark = [] {
      const auto value = static_cast<Value>(upto(2));
      return std::vector<ValueRange>{{value, upto(7) == 0 ? value + 1 : value}};
    };
    switch (upto(3)) {
      case 0: {
        Operand operand;
        operand.selector = one_of({Selector::MetaMark, Selector::CtMark, Selector::ThDport});
        if (maybe()) {
          operand.mask = one_of<Value>({1, 0xff, ~Value{1}});
          operand.flip = one_of<Value>({0, 1});
        }
        assign.value = operand;
        break;
      }
      case 1: {
        Lookup lookup;
        lookup.set = any_set(lookup.key, [&](Element& element) { element.data = mark(); });
        out_.sets[lookup.set].is_map = true;
        assign.value = lookup;
        break;
      }
      default:
        assign.value = mark();
        break;
    }
    statements_->push_back(assign);
  }

  void nat() {
    const Hook hook = out_.chains[at_].base->hook;
    const bool is_source = hook == Hook::Postrouting || hook == Hook::Input;
    Nat nat;
    nat.kind = is_source ? one_of({NatKind::Snat, NatKind::Masquerade})
                         : one_of({NatKind::Dnat, NatKind::Redirect});
    if (nat.kind == NatKind::Snat || nat.kind == NatKind::Dnat) {
      nat.family = one_of({bulkhead::Family::V4, bulkhead::Family::V6});
      const Value base = *nat.family == bulkhead::Family::V4 ? kNet4 : kNet6;
      const Value to = base + 1 + static_cast<Value>(upto(2));
      nat.address = std::vector<ValueRange>{{to, upto(3) == 0 ? to + 1 : to}};
    }
    if (maybe())
      nat.port = std::vector<ValueRange>{{80, 80}};
    statements_->push_back(nat);
  }

  bool with_nat_;
  Ruleset out_;
  std::vector<Statement>* statements_ = nullptr;
  Index at_ = 0;
  Index chains_ = 0;
};

void append(std::vector<std::uint8_t>& bytes, Value value, int count) {
  for (int i = count - 1; i >= 0; --i)
    bytes.push_back(static_cast<std::uint8_t>((value >> (8 * i)) & 0xff));
}

const Source& source_of(Selector selector) {
  return *std::find_if(sources().begin(), sources().end(),
                       [&](const Source& s) { return s.selector == selector; });
}

}  // namespace

Ruleset any_ruleset(bool with_nat) {
  return Maker(with_nat).make();
}

Packet any_packet(bool translated) {
  Packet packet;
  const bool v4 = maybe();
  packet.ethertype = v4 ? kEtherIp : kEtherIp6;
  const Value protocol = v4 ? one_of<Value>({6, 17, 1}) : one_of<Value>({6, 17, 58});
  auto& bytes = packet.bytes;
  if (v4) {
    append(bytes, 0x45000064, 4);
    append(bytes, 7, 2);
    append(bytes, value_of(source_of(Selector::Ip4FragOff)), 2);
    append(bytes, 64, 1);
    append(bytes, protocol, 1);
    append(bytes, 0, 2);
    append(bytes, value_of(source_of(Selector::Ip4Saddr)), 4);
    append(bytes, value_of(source_of(Selector::Ip4Daddr)), 4);
  } else {
    const bool fragment = maybe();
    append(bytes, 0x60000000, 4);
    append(bytes, 80, 2);
    append(bytes, fragment ? 44 : protocol, 1);
    append(bytes, 64, 1);
    append(bytes, value_of(source_of(Selector::Ip6Saddr)), 16);
    append(bytes, value_of(source_of(Selector::Ip6Daddr)), 16);
    if (fragment) {
      append(bytes, protocol, 1);
      append(bytes, 0, 1);
      append(bytes, one_of<Value>({0, 1, 8, 9}), 2);
      append(bytes, 0x1234, 4);
    }
  }
  append(bytes, value_of(source_of(Selector::ThSport)), 2);
  append(bytes, value_of(source_of(Selector::ThDport)), 2);
  append(bytes, 0, 9);
  append(bytes, value_of(source_of(Selector::TcpFlags)), 1);
  append(bytes, one_of<Value>({0, 1}), 2);
  bytes.resize(bytes.size() + 64);
  if (maybe()) {
    append(packet.link, 0x020000000001, 6);
    append(packet.link, 0x020000000002, 6);
    append(packet.link, packet.ethertype, 2);
  }
  const auto device = [] {
    const int number = upto(1);
    Device out;
    out.name = "l" + std::to_string(number);
    out.index = static_cast<std::uint32_t>(number) + 1;
    out.group = static_cast<std::uint32_t>(number);
    return out;
  };
  packet.in = device();
  packet.out = device();
  packet.mark = static_cast<std::uint32_t>(value_of(source_of(Selector::MetaMark)));
  if (maybe())
    packet.uid = packet.gid = 1;
  packet.ct_state = static_cast<std::uint8_t>(value_of(source_of(Selector::CtState)));
  if (packet.ct_state != kCtInvalid && packet.ct_state != kCtUntracked) {
    Connection connection;
    connection.reply = packet.ct_state != kCtNew && maybe();
    connection.status = one_of({0U, 2U});
    if (translated && packet.ct_state != kCtNew)
      connection.status |= one_of({0U, kStatusSnat, kStatusDnat});
    connection.mark = static_cast<std::uint32_t>(upto(2));
    connection.protocol = static_cast<std::uint8_t>(protocol);
    const Value base = v4 ? kNet4 : kNet6;
    connection.original = {base + 1, base + 1 + static_cast<Value>(upto(1)), 80,
                           static_cast<std::uint16_t>(one_of({22, 80}))};
    connection.answer = {base + 1 + static_cast<Value>(upto(1)), base + 1, 80, 80};
    packet.connection = connection;
  }
  return packet;
}

bool may_be_left(const Rule& rule) {
  bool written = false;
  for (const Statement& statement : rule.statements) {
    const bool decides = std::holds_alternative<Decide>(statement);
    if (written && !decides)
      return true;
    written |= std::holds_alternative<Assign>(statement);
  }
  return false;
}

}  // namespace bulkhead::compiler::proof::test
