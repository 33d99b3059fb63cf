// Where rules and policy differ, told for people: by cause (the rules that decide) and by whom it
// concerns (subject.h), which traffic, what the policy says of it, one packet as an example. Made
// from a Comparison for reports; nothing is decided here, and every packet of the comparison is in
// some finding.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/proof/example.h"
#include "compiler/proof/naming.h"
#include "compiler/proof/policy_words.h"
#include "compiler/proof/prove.h"
#include "compiler/proof/subject.h"

namespace bulkhead::compiler::proof {

enum class Effect : std::uint8_t { Opens, MayOpen, Closes, MayClose, Unknown };
[[nodiscard]] std::string_view to_string(Effect effect);  // "opens", "may open", ...

// One box of packets.
struct Difference {
  std::vector<Family> families;
  NamedBox box;
  Example example;
  PolicyWords policy;              // of Subject::Tenants and Classes
  std::vector<std::string> rules;  // the example's way, rule by rule; the last decides
  // Why no host of the site can send the example (probe_counterexample.h); empty: one can.
  std::string not_sendable;
};

struct DecidingRule {
  std::string name;  // "inet filter forward, rule 3"
  std::string text;  // in nft's words, where it is known
};

// What one cause does to one kind of packets.
struct Finding {
  Effect effect = Effect::Opens;
  Passage passage = Passage::Forward;
  Subject subject = Subject::Any;
  std::vector<std::string> causes;      // rules that decide, in order of the ruleset
  std::size_t more_causes = 0;          // that are not among them
  std::vector<std::string> notes;       // what it means, and when it is harmless
  bool begins = false;                  // some of it begins connections
  std::vector<Difference> differences;  // never empty; the largest first
  bool complete = true;                 // together they are all of it; else there are more
};

struct Differences {
  std::vector<Finding> findings;  // by subject, then effect; those that cross a `never` first
  [[nodiscard]] bool empty() const { return findings.empty(); }
};

// At most `limit` differences in a finding.
[[nodiscard]] Differences differences(Diagrams& space, const Comparison& comparison,
                                      const Ruleset& ruleset, const Naming& naming,
                                      std::size_t limit);

// Adds to findings about state whether what they let through can begin: to be called with all
// passages of one enforcer.
void say_whether_harmless(std::span<Differences* const> passages);

// The order of Differences::findings, for those of several passages.
[[nodiscard]] bool comes_before(const Finding& a, const Finding& b);

// The way of one packet as lines: "inet bulkhead c_red, rule 12 \"default\": drop".
[[nodiscard]] std::vector<std::string> way_of(const Ruleset& ruleset, const Packet& packet,
                                              Passage passage);

}  // namespace bulkhead::compiler::proof
