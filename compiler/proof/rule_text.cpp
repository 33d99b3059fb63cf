#include "compiler/proof/rule_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compiler/proof/value_type.h"

namespace bulkhead::compiler::proof {

namespace {

constexpr std::size_t kMostElements = 6;
constexpr Value kIcmp6 = 58;

struct Typed {
  Selector selector;
  ValueType type;
};
constexpr Typed kTypes[] = {
    {Selector::EtherDaddr, ValueType::Ether},
    {Selector::EtherSaddr, ValueType::Ether},
    {Selector::EtherType, ValueType::EtherType},
    {Selector::VlanType, ValueType::EtherType},
    {Selector::Ip4Dscp, ValueType::Dscp},
    {Selector::Ip4Ecn, ValueType::Ecn},
    {Selector::Ip4Protocol, ValueType::Protocol},
    {Selector::Ip4Saddr, ValueType::Ipv4},
    {Selector::Ip4Daddr, ValueType::Ipv4},
    {Selector::Ip6Dscp, ValueType::Dscp},
    {Selector::Ip6Ecn, ValueType::Ecn},
    {Selector::Ip6NextHeader, ValueType::Protocol},
    {Selector::Ip6Saddr, ValueType::Ipv6},
    {Selector::Ip6Daddr, ValueType::Ipv6},
    {Selector::ArpOperation, ValueType::ArpOperation},
    {Selector::ArpSaddrEther, ValueType::Ether},
    {Selector::ArpSaddrIp, ValueType::Ipv4},
    {Selector::ArpDaddrEther, ValueType::Ether},
    {Selector::ArpDaddrIp, ValueType::Ipv4},
    {Selector::ExtHopByHop, ValueType::Boolean},
    {Selector::ExtRouting, ValueType::Boolean},
    {Selector::ExtFragment, ValueType::Boolean},
    {Selector::ExtDestination, ValueType::Boolean},
    {Selector::ExtMobility, ValueType::Boolean},
    {Selector::TcpFlags, ValueType::TcpFlag},
    {Selector::MetaNfproto, ValueType::NfProto},
    {Selector::MetaProtocol, ValueType::EtherType},
    {Selector::MetaL4proto, ValueType::Protocol},
    {Selector::MetaIifname, ValueType::InterfaceName},
    {Selector::MetaOifname, ValueType::InterfaceName},
    {Selector::MetaSdifname, ValueType::InterfaceName},
    {Selector::MetaIifgroup, ValueType::InterfaceGroup},
    {Selector::MetaOifgroup, ValueType::InterfaceGroup},
    {Selector::MetaIiftype, ValueType::InterfaceType},
    {Selector::MetaOiftype, ValueType::InterfaceType},
    {Selector::MetaPkttype, ValueType::PacketType},
    {Selector::CtState, ValueType::CtState},
    {Selector::CtDirection, ValueType::CtDirection},
    {Selector::CtStatus, ValueType::CtStatus},
    {Selector::CtL3proto, ValueType::NfProto},
    {Selector::CtProtocol, ValueType::Protocol},
    {Selector::CtOriginalSaddr4, ValueType::Ipv4},
    {Selector::CtOriginalDaddr4, ValueType::Ipv4},
    {Selector::CtOriginalSaddr6, ValueType::Ipv6},
    {Selector::CtOriginalDaddr6, ValueType::Ipv6},
    {Selector::CtReplySaddr4, ValueType::Ipv4},
    {Selector::CtReplyDaddr4, ValueType::Ipv4},
    {Selector::CtReplySaddr6, ValueType::Ipv6},
    {Selector::CtReplyDaddr6, ValueType::Ipv6},
    {Selector::FibOif, ValueType::Boolean},
    {Selector::FibOifname, ValueType::InterfaceName},
    {Selector::FibType, ValueType::FibType},
};

bool is_interface(Selector selector) {
  return selector == Selector::MetaIifname || selector == Selector::MetaOifname ||
         selector == Selector::MetaSdifname;
}

class Writer {
 public:
  explicit Writer(const Ruleset& ruleset) : ruleset_(ruleset) {}

  std::string rule(const Rule& rule) {
    std::string out;
    for (const Statement& statement : rule.statements) {
      const std::string word =
          std::visit([this](const auto& what) { return text(what); }, statement);
      if (!word.empty())
        out += (out.empty() ? "" : " ") + word;
    }
    return out;
  }

  std::string text(const Verdict& verdict) const {
    std::string out(to_string(verdict.kind));
    if (verdict.chain != kNone)
      out += " " + ruleset_.chains[verdict.chain].name;
    return out;
  }

 private:
  [[nodiscard]] ValueType type_of(Selector selector) const {
    if (selector == Selector::IcmpType)
      return protocol_ == kIcmp6 ? ValueType::Icmpv6Type : ValueType::IcmpType;
    if (selector == Selector::IcmpCode)
      return protocol_ == kIcmp6 ? ValueType::Icmpv6Code : ValueType::IcmpCode;
    for (const Typed& typed : kTypes)
      if (typed.selector == selector)
        return typed.type;
    return ValueType::Integer;
  }

  [[nodiscard]] std::string name(const Operand& operand) const {
    std::string out(info(operand.selector).name);
    if (operand.selector == Selector::Raw)
      out = fmt::format("@{},{},{}",
                        operand.place.base == Base::Link      ? "ll"
                        : operand.place.base == Base::Network ? "nh"
                                                              : "th",
                        operand.place.offset, operand.place.bits);
    else if (info(operand.selector).base == Base::Lookup)
      out = fmt::format("fib {}{}{}{} {}", operand.fib.saddr ? "saddr" : "daddr",
                        operand.fib.mark ? " . mark" : "", operand.fib.iif ? " . iif" : "",
                        operand.fib.oif ? " . oif" : "", out.substr(4));
    else if ((operand.selector == Selector::ThDport || operand.selector == Selector::ThSport) &&
             protocol_)
      out = written(ValueType::Protocol, *protocol_) + out.substr(2);
    else if (out.starts_with("icmp ") && protocol_ == kIcmp6)
      out = "icmpv6" + out.substr(4);
    return out;
  }

  [[nodiscard]] std::string name(const Operands& key) const {
    std::string out;
    for (const Operand& operand : key)
      out += (out.empty() ? "" : " . ") + name(operand);
    return out;
  }

  [[nodiscard]] std::string value(Selector selector, const ValueRange& range) const {
    const ValueType type = type_of(selector);
    if (is_interface(selector) && range.first != range.last) {
      const std::string prefix = name_of(range.first);
      return '"' + prefix + "*\"";
    }
    if (range.first == range.last)
      return written(type, range.first);
    if (type == ValueType::Ipv4 || type == ValueType::Ipv6) {
      const unsigned bits = type == ValueType::Ipv4 ? 32 : 128;
      for (unsigned length = 0; length < bits; ++length)
        if ((range.first & greatest(bits - length)) == 0 &&
            (range.first | greatest(bits - length)) == range.last)
          return fmt::format("{}/{}", written(type, range.first), length);
    }
    return written(type, range.first) + "-" + written(type, range.last);
  }

  [[nodiscard]] std::string braces(std::vector<std::string> items, std::size_t count) const {
    if (count == 1 && items.size() == 1)
      return items.front();
    if (count > items.size())
      items.push_back(fmt::format("... {} more", count - items.size()));
    return fmt::format("{{ {} }}", fmt::join(items, ", "));
  }

  [[nodiscard]] std::string set_text(const Operands& key, Index index) const {
    const Set& set = ruleset_.sets[index];
    if (!set.name.empty())
      return "@" + set.name;
    std::vector<std::string> items;
    for (std::size_t i = 0; i < set.elements.size() && i < kMostElements; ++i) {
      std::string item;
      for (std::size_t part = 0; part < set.width && !set.elements[i].any; ++part)
        item += (part == 0 ? "" : " . ") +
                (part < key.size() ? value(key[part].selector, set.key(i)[part]) : "?");
      if (set.elements[i].any)
        item = "*";
      if (const auto* verdict = std::get_if<Verdict>(&set.elements[i].data))
        item += " : " + text(*verdict);
      items.push_back(std::move(item));
    }
    // A set is written in braces also where it has one element.
    const std::string out = braces(items, set.elements.size());
    return out.starts_with('{') ? out : "{ " + out + " }";
  }

  // "ct state established,related" is (state & 6) != 0.
  [[nodiscard]] std::string bits_text(const Operand& operand) const {
    const ValueType type = type_of(operand.selector);
    std::vector<std::string> words;
    for (unsigned bit = 0; bit < bits(operand); ++bit)
      if ((operand.mask >> bit & 1) != 0)
        words.push_back(written(type, Value{1} << bit));
    return fmt::format("{}", fmt::join(words, ","));
  }

  std::string text(const Match& match) {
    const Operand& first = match.key.front();
    if (match.key.size() == 1 && first.selector == Selector::MetaL4proto && !match.negated &&
        match.ranges.size() == 1 && match.ranges.front().first == match.ranges.front().last)
      protocol_ = match.ranges.front().first;
    if (match.implied)
      return "";
    if (match.set != kNone)
      return fmt::format("{}{} {}", name(match.key), match.negated ? " !=" : "",
                         set_text(match.key, match.set));
    const Value ones = greatest(bits(first));
    const bool is_masked = (first.mask & ones) != ones || (first.flip & ones) != 0;
    if (is_masked && first.flip == 0 && match.ranges == std::vector<ValueRange>{{0, 0}})
      return fmt::format("{} {}{}", name(match.key), match.negated ? "" : "! ", bits_text(first));
    std::vector<std::string> items;
    for (const ValueRange& range : match.ranges)
      if (items.size() < kMostElements)
        items.push_back(value(first.selector, range));
    std::string left = name(match.key);
    if (is_masked)
      left += fmt::format(" & 0x{:x}", static_cast<std::uint64_t>(first.mask & ones));
    if ((first.flip & ones) != 0)
      left += fmt::format(" ^ 0x{:x}", static_cast<std::uint64_t>(first.flip & ones));
    return fmt::format("{}{} {}", left, match.negated ? " !=" : "",
                       braces(items, match.ranges.size()));
  }
  std::string text(const Decide& decide) const {
    return text(decide.verdict) + (decide.reject_with.empty() ? "" : " with " + decide.reject_with);
  }
  std::string text(const VerdictMap& map) const {
    return name(map.key) + " vmap " + set_text(map.key, map.set);
  }
  std::string text(const Source& source, Selector like) const {
    if (const auto* operand = std::get_if<Operand>(&source))
      return name(*operand);
    if (const auto* lookup = std::get_if<Lookup>(&source))
      return name(lookup->key) + " map " + set_text(lookup->key, lookup->set);
    const auto& ranges = std::get<std::vector<ValueRange>>(source);
    return ranges.empty() ? "?" : value(like, ranges.front());
  }
  std::string text(const Assign& assign) const {
    return fmt::format("{} set {}", info(assign.target).name, text(assign.value, assign.target));
  }
  std::string text(const Nat& nat) const {
    constexpr std::array<std::string_view, 4> kNames{"dnat", "snat", "masquerade", "redirect"};
    std::string out(kNames[static_cast<std::size_t>(nat.kind)]);
    if (nat.address || nat.port)
      out += " to ";
    if (nat.address)
      out += text(*nat.address, nat.family == Family::V6 ? Selector::Ip6Daddr : Selector::Ip4Daddr);
    if (nat.port)
      out += ":" + text(*nat.port, Selector::ThDport);
    return out;
  }
  static std::string text(const Maybe& maybe) {
    constexpr std::array<std::string_view, 5> kNames{"limit ...", "quota ...", "ct count ...",
                                                     "numgen ...", "meter ..."};
    return std::string(kNames[static_cast<std::size_t>(maybe.why)]);
  }
  static std::string text(const Notrack&) { return "notrack"; }
  static std::string text(const FlowOffload& flow) { return "flow add @" + flow.flowtable; }
  std::string text(const UpdateSet& update) const {
    constexpr std::array<std::string_view, 3> kNames{"add", "update", "delete"};
    return fmt::format("{} @{} {{ {}{} }}", kNames[static_cast<std::size_t>(update.operation)],
                       ruleset_.sets[update.set].name, name(update.key),
                       update.limited ? " limit ..." : "");
  }
  static std::string text(const NoEffect& nothing) {
    switch (nothing.what) {
      case NoEffect::What::Counter:
        return "counter";
      case NoEffect::What::Log:
        return "log";
      case NoEffect::What::Trace:
        return "meta nftrace set 1";
      case NoEffect::What::Other:
        break;
    }
    return "...";
  }
  static std::string text(const Unmodelled& unmodelled) {
    return fmt::format("<{}>", unmodelled.reason);
  }

  const Ruleset& ruleset_;
  std::optional<Value> protocol_;  // of the transport header that the rule reads
};

}  // namespace

std::string rule_text(const Ruleset& ruleset, const Rule& rule) {
  return Writer(ruleset).rule(rule);
}

std::string verdict_text(const Ruleset& ruleset, const Verdict& verdict) {
  return Writer(ruleset).text(verdict);
}

std::string rule_name(const Ruleset& ruleset, Index chain, Index rule) {
  const std::string& comment = ruleset.chains[chain].rules[rule].comment;
  return fmt::format("{}, rule {}{}", chain_name(ruleset, chain), rule + 1,
                     comment.empty() ? "" : " \"" + comment + '"');
}

}  // namespace bulkhead::compiler::proof
