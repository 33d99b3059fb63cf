// How rules end for a packet: what the diagrams of a ruleset give. An Ending is what one packet can
// come to, with what was changed in it on the way; the diagrams hold its number.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/proof/diagram.h"
#include "compiler/proof/interpret.h"
#include "compiler/proof/ruleset.h"

namespace bulkhead::compiler::proof {

enum class End : std::uint8_t {
  Drop,
  Accept,
  Continue,  // no rule has decided yet
  Return,    // to the calling chain
  Reject,
  Queue,    // a program decides
  Done,     // of one rule by itself (Symbolic::alone): all of it was run, and it decided nothing
  Unknown,  // something outside the model decided, or changed what later rules read
  Jump,     // of one rule by itself; whole chains never end so
  Goto,
};

struct RuleRef {
  Index chain = kNone;
  Index rule = kNone;
  auto operator<=>(const RuleRef&) const = default;
};

// A field that later rules read otherwise than it came.
struct Change {
  Field field{};
  std::optional<Value> value;
  // (what this field was at first & mask) ^ flip. Without it and without a value: not known.
  std::optional<Field> copy;
  Value mask = ~Value{0};
  Value flip = 0;
  RuleRef by;
  auto operator<=>(const Change&) const = default;
};
// To that value, or to one that is not known; by no rule.
[[nodiscard]] Change change(Field field, std::optional<Value> value);
using Changes = std::vector<Change>;  // by field, each once; all at the same time
// First one, then the other.
[[nodiscard]] Changes after(const Changes& first, const Changes& then);

struct Way {
  End end = End::Continue;
  Changes changes;
  // Who said so, where that is asked for (Symbolic, Attribution::Rules); a rule of kNone: a policy.
  std::optional<RuleRef> by{};
  Index to{kNone};  // the chain, of Jump and Goto
  auto operator<=>(const Way&) const = default;
};

struct Ending {
  std::vector<Way> ways;         // sorted; several where the packet alone does not decide
  std::vector<RuleRef> unknown;  // sorted; rules outside the model that decide about it
  auto operator<=>(const Ending&) const = default;
};
// What that means where it is the end of all rules. Continue is what the kernel does then: accept.
[[nodiscard]] Outcome outcome_of(const Ending& ending);

class Endings {
 public:
  Endings();
  // Ends without changes, but Unknown, have fixed numbers: their place in End. So a diagram of
  // nothing but drops and accepts is the set of the accepted packets.
  [[nodiscard]] static Terminal of(End end) { return static_cast<Terminal>(end); }
  // Where there is one way nobody chooses: `unknown` is dropped then.
  Terminal number(Ending ending);
  [[nodiscard]] const Ending& at(Terminal number) const { return *by_number_[number]; }

  // No ending so far goes on but the plain one: without changes, without other ways.
  [[nodiscard]] bool only_plain() const { return only_plain_; }

  // Either of them; by what a rule outside the model says, if one is given.
  Terminal either(Terminal a, Terminal b, const std::optional<RuleRef>& unknown);
  // With `changes` made before.
  Terminal changed(const Changes& changes, Terminal number);
  // Every way that ends so ends otherwise.
  Terminal renamed(Terminal number, End from, End to);
  // By which `space`, always the same one, remembers that.
  Remembered renaming(Diagrams& space, End from, End to);

 private:
  std::map<Ending, Terminal> numbers_;
  std::vector<const Ending*> by_number_;
  bool only_plain_ = true;
  std::map<std::pair<End, End>, Remembered> renamings_;
};

}  // namespace bulkhead::compiler::proof
