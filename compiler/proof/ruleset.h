// A listed ruleset in types: what nf_tables would evaluate, statement by statement. The result of
// parse_ruleset (ruleset_json.h); the interpreter and the symbolic evaluator walk it.
//
// It is closer to the kernel's byte code than to the text: the protocol matches that nft implies
// and does not list are there (marked `implied`), every comparison is "the key is, or is not, in
// this set", and names are resolved to indices. Values only; no pointer into the JSON.
//
// What the types cannot say is Unmodelled, where it stands in its rule: neither ignored nor an
// error.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/proof/selector.h"
#include "compiler/proof/value.h"

namespace bulkhead::compiler::proof {

using Index = std::uint32_t;
inline constexpr Index kNone = std::numeric_limits<Index>::max();

enum class TableFamily : std::uint8_t { Ip, Ip6, Inet, Bridge, Netdev, Arp };
enum class Hook : std::uint8_t { Ingress, Prerouting, Input, Forward, Output, Postrouting, Egress };
[[nodiscard]] std::string_view to_string(TableFamily family);
[[nodiscard]] std::string_view to_string(Hook hook);

// ---- What is looked at

struct FibQuery {
  bool saddr = false, daddr = false;  // exactly one
  bool mark = false, iif = false, oif = false;
  auto operator<=>(const FibQuery&) const = default;
};

// (packet[selector] & mask) ^ flip, which is how nf_tables keeps every chain of &, | and ^.
struct Operand {
  Selector selector = Selector::MetaMark;
  Place place;   // of Selector::Raw
  FibQuery fib;  // of FibOif, FibOifname and FibType
  Value mask = ~Value{0};
  Value flip = 0;
  bool operator==(const Operand&) const = default;
};
[[nodiscard]] unsigned bits(const Operand& operand);

using Operands = std::vector<Operand>;  // more than one: a concatenation

// ---- Verdicts

enum class VerdictKind : std::uint8_t { Accept, Drop, Continue, Return, Jump, Goto, Reject, Queue };
struct Verdict {
  VerdictKind kind = VerdictKind::Continue;
  Index chain = kNone;  // Ruleset::chains, of Jump and Goto
  bool operator==(const Verdict&) const = default;
};
[[nodiscard]] std::string_view to_string(VerdictKind kind);

// ---- Sets and maps

// What an element leads to: nothing (a set), a verdict, values (one range a component: an address
// and a port; a prefix map gives real ranges), or an object's name, which decides nothing here.
using Data = std::variant<std::monostate, Verdict, std::vector<ValueRange>, std::string>;

struct Element {
  Data data;
  std::string comment;
  bool counter = false;
  bool limited = false;  // has a limit, quota or connection limit of its own: may match, or not
  bool expires = false;  // may be gone at the next packet
  bool any = false;      // "*": what no other element matches; its keys cover everything
};

// Keys of element i: one range a component, side by side in one vector, since there may be 100,000.
// Elements of a set with one component do not overlap. Those of a concatenation may: then the one
// inserted first wins, which a listing does not tell.
struct Set {
  std::string name;  // empty: anonymous
  Index table = kNone;
  std::size_t width = 1;  // components of the key
  bool is_map = false;
  bool timeout = false;  // elements vanish by themselves
  bool dynamic = false;  // rules of the ruleset add or delete elements
  std::vector<ValueRange> keys;
  std::vector<Element> elements;
  // What of it could not be read, with the reason: a lookup in it is unknown.
  std::string unmodelled;
  // Interface indices of which no interface is left ("iif 7"): such elements never match again and
  // are not among `elements`.
  std::vector<std::string> dead_interfaces;

  [[nodiscard]] std::span<const ValueRange> key(std::size_t element) const {
    return std::span(keys).subspan(element * width, width);
  }
};

// ---- Statements

// True where the key is in the ranges or in the set, or, negated, where it is not. A key that
// cannot be read makes it false either way. Single comparisons are ranges: `tcp dport > 10` is
// 11-65535, `tcp flags syn` is (flags & 2) not in {0}.
struct Match {
  Operands key;
  bool negated = false;
  std::vector<ValueRange> ranges;  // of a single operand, sorted and disjoint; where set == kNone
  Index set = kNone;               // Ruleset::sets
  bool implied = false;            // nft puts it before a protocol's field and does not list it
};

struct Decide {
  Verdict verdict;
  std::string reject_with;  // "tcp reset", "icmpx port-unreachable"
  // Queue: without a listener packets are dropped, or accepted with `bypass`.
  bool bypass = false;
};

// The verdict that the map has for the key; without one the rule ends. (`continue` is no verdict:
// the rule goes on.)
struct VerdictMap {
  Operands key;
  Index set = kNone;
};

// Where a value comes from: a constant (or a choice out of a range), a field, or a map.
struct Lookup {
  Operands key;
  Index set = kNone;
};
using Source = std::variant<std::vector<ValueRange>, Operand, Lookup>;

// meta mark, ct mark, ct zone, meta nftrace, pkttype, priority: later reads see it. A map without
// the key ends the rule.
struct Assign {
  Selector target = Selector::MetaMark;
  Source value;
};

enum class NatKind : std::uint8_t { Dnat, Snat, Masquerade, Redirect };
// Only the first packet of a connection comes here; the chain then ends with accept. A map without
// the key ends the rule. Of the other family than `family`: nothing, the rule goes on.
struct Nat {
  NatKind kind = NatKind::Dnat;
  std::optional<Family> family;   // of `address`, where said (inet)
  std::optional<Source> address;  // of a map: an address, or an address and a port
  std::optional<Source> port;
  bool netmap = false;  // prefix to prefix: host bits are kept
};

// Passes or ends the rule by what happened before, not by the packet: both must be followed.
struct Maybe {
  enum class Why : std::uint8_t { Limit, Quota, ConnectionCount, Numgen, Meter };
  Why why = Why::Limit;
};

struct Notrack {};
struct FlowOffload {  // established packets of this connection skip the rules from now on
  std::string flowtable;
};
struct UpdateSet {
  enum class Operation : std::uint8_t { Add, Update, Delete };
  Operation operation = Operation::Add;
  Operands key;
  Index set = kNone;
  bool limited = false;  // a limit inside: the rule may end here
};
// Counters, logs, tcp mss, ttl, dscp: no later verdict depends on it, as far as the types go.
struct NoEffect {
  enum class What : std::uint8_t { Counter, Log, Trace, Other };
  What what = What::Counter;
};

// An expression outside the model. Of a condition the two ways are known (the rule goes on, or ends
// here); after an effect nothing about the packet is.
struct Unmodelled {
  enum class Kind : std::uint8_t { Condition, Effect };
  Kind kind = Kind::Condition;
  std::string json;    // the listed expression, cut to some 200 characters
  std::string reason;  // "rt: not modelled"
};

using Statement = std::variant<Match, Decide, VerdictMap, Assign, Nat, Maybe, Notrack, FlowOffload,
                               UpdateSet, NoEffect, Unmodelled>;

struct Rule {
  std::uint64_t handle = 0;
  std::string comment;
  std::string text;  // as nft writes it, cut; for people, and empty where it was not asked for
  std::vector<Statement> statements;
  // Interface indices in it of which no interface is left ("7" of `iif 7`): they equal none.
  std::vector<std::string> dead_interfaces;
  // Several "!=" of it are one comparison in the kernel, for which one of them is enough
  // (rule_loads.h).
  bool joined = false;
};

// ---- Chains and tables

enum class ChainType : std::uint8_t { Filter, Nat, Route };
struct BaseChain {
  ChainType type = ChainType::Filter;
  Hook hook = Hook::Forward;
  std::int32_t priority = 0;
  bool policy_drop = false;
  // Ingress and egress: the devices. Empty: nft 1.0.6 does not list them as JSON, so any device.
  std::vector<std::string> devices;
};

struct Chain {
  std::string name;
  Index table = kNone;
  std::uint64_t handle = 0;
  std::optional<BaseChain> base;
  std::vector<Rule> rules;
};

struct Table {
  TableFamily family = TableFamily::Inet;
  std::string name;
  // nft 1.0.6 lists a table's flags as garbage: it may be dormant (its base chains do nothing).
  bool maybe_dormant = false;
  bool dormant = false;
};

struct NamedCounter {
  Index table = kNone;
  std::string name;
  std::string comment;
};

struct Ruleset {
  std::vector<Table> tables;
  std::vector<Chain> chains;  // in order of listing
  std::vector<Set> sets;      // named and anonymous
  std::vector<NamedCounter> counters;

  [[nodiscard]] const Table& table_of(const Chain& chain) const { return tables[chain.table]; }
};

// nat chains run where the kernel's nat core works (-100 before, 100 behind routing), whatever
// their own priority, which only orders them among each other (kernel 6.18: nf_nat_register_fn).
[[nodiscard]] std::int32_t effective_priority(const BaseChain& chain);

// Base chains that a packet of that family meets at a hook, in the order of their priorities; among
// equals in order of listing, which is no order that the kernel promises. inet chains are met by
// both IP families, those of its ingress hook by Netdev.
[[nodiscard]] std::vector<Index> chains_at(const Ruleset& ruleset, TableFamily family, Hook hook);

// "inet filter forward"
[[nodiscard]] std::string chain_name(const Ruleset& ruleset, Index chain);

}  // namespace bulkhead::compiler::proof
