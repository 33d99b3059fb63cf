// Exact sets of packets, and functions from packets to small numbers: firewall decision diagrams
// (Gouda and Liu, "Firewall Design: Consistency, Completeness, and Compactness", 2004), kept
// ordered, reduced and stored once each, so that two functions are equal exactly when their handles
// are. Everything of the proof that compares, counts or shows packets stands on these.
//
// A field is asked digit by digit (field.h has the digits; most are bytes), each with interval
// edges. A byte is wide enough for a node to hold a service list or the hosts of a rack, and narrow
// enough that two large address maps which differ in one host share all the rest; with whole
// addresses as edges, ten thousand hand-written rules need a copy of the map for each source.
// Callers never see digits.
//
// A Diagrams owns all its nodes; handles of another Diagrams mean nothing. Not thread-safe. Every
// operation may throw OutOfBudget. Recursion is at most as deep as there are digits, about 150.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "compiler/proof/field.h"
#include "compiler/proof/memo.h"
#include "compiler/proof/node_table.h"
#include "compiler/proof/value.h"

namespace bulkhead::compiler::proof {

// What a function gives; the meaning is the caller's. A set gives 1 inside and 0 outside.
using Terminal = std::uint32_t;
inline constexpr Terminal kMaxTerminal = detail::kTerminalBit - 2;

// A handle: copy it freely.
class Diagram {
 public:
  Diagram() = default;  // the empty set
  bool operator==(const Diagram&) const = default;
  // An order without meaning, for maps and for the same output on the same input.
  auto operator<=>(const Diagram&) const = default;
  [[nodiscard]] bool is_constant() const { return detail::is_terminal(index_); }
  [[nodiscard]] Terminal terminal() const {
    return index_ & ~detail::kTerminalBit;
  }                                                          // of constants
  [[nodiscard]] std::uint32_t id() const { return index_; }  // for hashing

 private:
  friend class Diagrams;
  explicit Diagram(detail::Index index) : index_(index) {}
  detail::Index index_ = detail::kTerminalBit;
};

struct Branch {
  ValueRange range;
  Diagram child;
};

// One key of a map: a value has to lie in a range of every field named. Fields not named are free.
struct Key {
  std::vector<std::pair<Field, ValueRange>> fields;  // each once, in any order
  Terminal gives = 1;
};

// A number for a function that is given to the same operation again and again, always with the same
// meaning: answers found before are then known. See Diagrams::remember().
struct Remembered {
  std::uint32_t number = 0;  // 0: not remembered
};

class Diagrams {
 public:
  explicit Diagrams(Budget budget = {}, std::span<const FieldInfo> fields = kFields);
  Diagrams(const Diagrams&) = delete;
  Diagrams& operator=(const Diagrams&) = delete;

  // ---- making

  [[nodiscard]] Diagram constant(Terminal terminal) const {
    return Diagram(detail::kTerminalBit | terminal);
  }
  [[nodiscard]] Diagram nothing() const { return constant(0); }
  [[nodiscard]] Diagram everything() const { return constant(1); }
  // Packets whose field lies in one of the ranges: any order, overlaps allowed, empty allowed.
  Diagram in(Field field, std::vector<ValueRange> ranges);
  Diagram in(Field field, ValueRange range) { return in(field, std::vector{range}); }
  Diagram equal(Field field, Value value) { return in(field, {value, value}); }
  // A map of one field: the child of the range that holds the packet's value, else `otherwise`. Of
  // overlapping ranges the first one counts. Linear where children ask only later fields.
  Diagram branch(Field field, std::vector<Branch> branches, Diagram otherwise);
  // A map of several fields; of overlapping keys the first one counts.
  Diagram map(std::span<const Key> keys, Terminal otherwise);

  // ---- sets

  Diagram unite(Diagram a, Diagram b);
  Diagram unite(std::span<const Diagram> sets);  // balanced
  Diagram intersect(Diagram a, Diagram b);
  Diagram subtract(Diagram a, Diagram b) { return intersect(a, complement(b)); }
  Diagram complement(Diagram set);
  [[nodiscard]] bool is_subset(Diagram a, Diagram b) { return subtract(a, b) == nothing(); }
  // Packets that are in the set for some value of the field.
  Diagram exists(Diagram set, Field field);

  // ---- functions

  Diagram if_then_else(Diagram set, Diagram then, Diagram otherwise);
  // `first`, and where that gives `hole`, `then`: rules in a row, with `hole` for "no rule yet".
  // Associative.
  Diagram fill(Diagram first, Terminal hole, Diagram then);
  Diagram fill(std::span<const Diagram> row, Terminal hole);  // the hole itself if empty
  // Where f gives t, what table[t] gives: a map's verdicts in the place of their numbers. Linear
  // where all of them ask only later fields than f. `table` covers every terminal of f.
  Diagram replace(Diagram f, std::span<const Diagram> table);
  Diagram relabel(Diagram f, const std::function<Terminal(Terminal)>& to, Remembered as = {});
  // The packets for which f gives such a terminal.
  Diagram where(Diagram f, Terminal terminal);
  Diagram where(Diagram f, const std::function<bool(Terminal)>& wanted);
  // op(a, b) of every packet.
  Diagram apply(Diagram a, Diagram b, const std::function<Terminal(Terminal, Terminal)>& op,
                Remembered as = {});
  [[nodiscard]] Remembered remember() { return {next_operation_++}; }
  // f as it is once the field has this value: the field is not asked any more.
  Diagram fix(Diagram f, Field field, Value value);
  // What f gives over all values of the field, put together; `op` is associative, commutative and
  // gives x for (x, x).
  Diagram fold(Diagram f, Field field, const std::function<Terminal(Terminal, Terminal)>& op);
  // f of packets whose field is ((field & mask) ^ flip) first.
  Diagram masked(Diagram f, Field field, Value mask, Value flip);
  // f of packets whose field `to` is a copy of `from` first: the fields are as wide as each other.
  Diagram copied(Diagram f, Field to, Field from);

  // ---- asking

  // `packet` holds a value for each field.
  [[nodiscard]] Terminal at(Diagram f, std::span<const Value> packet) const;
  // The first field that f asks; none of a constant.
  [[nodiscard]] std::optional<Field> root(Diagram f) const;
  // f by the values of a field, which is not after root(f): sorted, covering, neighbours with
  // different children. A mask on low bits alone has more ranges than can be listed: behind `limit`
  // of them the rest is left out, and the last range ends before the field does.
  [[nodiscard]] std::vector<Branch> branches(Diagram f, Field field,
                                             std::size_t limit = 1'000'000) const;
  // Ascending.
  [[nodiscard]] std::vector<Terminal> terminals(Diagram f) const;
  [[nodiscard]] std::vector<Field> asked(Diagram f) const;
  // How likely a packet is in the set whose fields are drawn evenly, each by itself.
  [[nodiscard]] long double fraction(Diagram set) const;

  [[nodiscard]] std::span<const FieldInfo> fields() const { return fields_; }
  struct Size {
    std::size_t nodes = 0, edges = 0;
  };
  [[nodiscard]] Size size(Diagram f) const;  // of what f reaches
  [[nodiscard]] Size size() const { return {nodes_.node_count(), nodes_.edge_count()}; }
  [[nodiscard]] std::size_t bytes() const { return nodes_.bytes() + memo_.bytes(); }
  [[nodiscard]] std::size_t steps() const { return steps_; }

 private:
  using Index = detail::Index;
  using Edge = detail::Edge;
  struct Level {
    Field field{};
    std::uint16_t max = 0;     // of the digit
    std::uint16_t ones = 0;    // a mask of its bits
    std::uint8_t shift = 0;    // of the digit in the field
    std::uint16_t behind = 0;  // the first level of the next field
  };
  struct Entry {  // a field's values up to `last`, as its digits are made
    Value last = 0;
    Index child = 0;
  };
  class Scratch;
  class RowFill;
  class MapWalk;
  // Fixed operations remember their answers for good; the others take a number of their own.
  enum Operation : std::uint32_t {
    kUnite = 1,
    kIntersect,
    kComplement,
    kChoose,
    kFill,
    kWhere,
    kFirstFree
  };

  const Level& level_of(Index node) const { return levels_[nodes_.level(node)]; }
  std::uint16_t first_level(Field field) const { return first_[static_cast<std::size_t>(field)]; }
  std::uint16_t behind(Field field) const { return levels_[first_level(field)].behind; }
  bool is_below(Index f, Field field) const { return nodes_.level(f) >= behind(field); }
  std::vector<Entry> entries(Field field, std::span<const Branch> sorted, Index otherwise) const;
  Index digits(std::uint16_t level, Value low, std::span<const Entry> entries);
  Index make(std::uint16_t level, std::span<Edge> edges);
  Index place(std::uint16_t level, std::span<Edge> edges, bool below);
  Index split(std::uint16_t level, std::span<const Edge> edges);
  Index replace_below(Index f, std::span<const Diagram> table, std::uint32_t operation);
  template <class Join>
  Index fold_below(Index f, Field field, std::uint32_t operation, const Join& join);
  // f with each node of the field's digits made anew by `rewrite(node)`.
  template <class Rewrite>
  Index at_field(Index f, Field field, std::uint32_t operation, const Rewrite& rewrite);
  bool flatten(Index f, std::uint16_t level, std::uint16_t behind, Value low, std::size_t limit,
               std::vector<Branch>& out) const;
  template <class Visit>
  void each_node(Diagram f, Visit&& visit) const;
  std::uint32_t operation(Remembered as) { return as.number != 0 ? as.number : next_operation_++; }
  template <std::size_t N, class Op>
  Index merge(const Op& op, const std::array<Index, N>& operands);
  void count_step();

  std::vector<FieldInfo> fields_;
  std::vector<std::uint16_t> first_;  // level, by field
  std::vector<Level> levels_;
  std::size_t max_steps_;
  detail::NodeTable nodes_;
  detail::Memo memo_;
  std::vector<Edge> scratch_;  // edges of the nodes under construction, a stack
  std::uint32_t next_operation_ = kFirstFree;
  std::size_t steps_ = 0;
  mutable std::vector<std::uint32_t> seen_;  // by node: the last walk that came by
  mutable std::uint32_t walk_ = 0;
};

}  // namespace bulkhead::compiler::proof
