// The left side of listed expressions: which field of the packet {"payload": ...}, {"meta": ...},
// {"ct": ...} mean, and what nft implies with it. Part of parse_ruleset.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "compiler/proof/json_tree.h"
#include "compiler/proof/ruleset.h"
#include "compiler/proof/value_type.h"

namespace bulkhead::compiler::proof {

// Why an expression cannot be said in types; it becomes Unmodelled.
struct Unreadable {
  std::string reason;
};
template <class T>
using Readable = tl::expected<T, Unreadable>;
[[nodiscard]] inline tl::unexpected<Unreadable> unreadable(std::string reason) {
  return tl::unexpected(Unreadable{std::move(reason)});
}

struct TypedOperand {
  Operand operand;
  ValueType type = ValueType::Integer;
};
using TypedKey = std::vector<TypedOperand>;
[[nodiscard]] Operands untyped(const TypedKey& key);

// What nft does not list because a field implies it: `tcp dport 22` in an inet table is `meta
// l4proto tcp` and then two bytes of the transport header. One for each rule; a match already
// there is not repeated.
class Implied {
 public:
  explicit Implied(TableFamily family) : family_(family) {}
  // Appends the matches that a payload protocol ("tcp", "ip") stands for.
  void protocol(std::string_view name, std::vector<Statement>& out);
  void equals(Selector selector, Value value, std::vector<Statement>& out);
  // A statement changed the packet: what was seen before it holds no more.
  void forget() { seen_.clear(); }
  [[nodiscard]] TableFamily family() const { return family_; }

 private:
  void network(Family family, std::vector<Statement>& out);
  struct Seen {
    Selector selector;
    Value value;
  };
  TableFamily family_;
  std::vector<Seen> seen_;
  bool ethernet_ = false;
  bool vlan_ = false;
};

// One field, with &, | and ^ of constants. Implied matches are appended to `out` even where the
// field itself is unreadable.
[[nodiscard]] Readable<TypedOperand> read_operand(const Json& json, Implied& implied,
                                                  std::vector<Statement>& out);
// A field or a concatenation of fields.
[[nodiscard]] Readable<TypedKey> read_key(const Json& json, Implied& implied,
                                          std::vector<Statement>& out);

}  // namespace bulkhead::compiler::proof
