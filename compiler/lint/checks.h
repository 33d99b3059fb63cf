// The checks of lint.cpp's table, and what they share.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/lint/lint.h"
#include "compiler/proof/prove.h"
#include "compiler/proof/reach.h"

namespace bulkhead::compiler::lint {

// Of the packets that the kernel can show at a hook, whole ones.
struct HookPackets {
  proof::Diagram passes;  // for sure
  proof::Diagram stops;   // for sure
};

struct Context {
  const proof::Ruleset& ruleset;
  const Options& options;
  proof::Diagrams& space;
  proof::Endings& endings;
  proof::Symbolic& rules;
  std::vector<proof::ChainReach> reach{};           // by chain; empty: too large to find
  std::map<proof::Passage, HookPackets> at_hook{};  // those that were asked for
};

using Findings = std::vector<Finding>;
void add(Findings& out, std::string_view code, Severity severity, std::string place,
         std::string what, std::string todo);
void add_rule(const Context& context, Findings& out, std::string_view code, Severity severity,
              proof::RuleRef ref, std::string what, std::string todo);
[[nodiscard]] std::string set_name(const proof::Ruleset& ruleset, proof::Index set);
// "rule 1 \"web\"", "rules 1, 2 and 7 more"; of one chain.
[[nodiscard]] std::string rules_words(const proof::Chain& chain,
                                      const std::vector<proof::Index>& rules);

// plain.cpp: what the text alone shows
void interfaces(Context& context, Findings& out);
void dead_interfaces(Context& context, Findings& out);
void dormant(Context& context, Findings& out);
void unmodelled(Context& context, Findings& out);
void flowtables(Context& context, Findings& out);
void next_headers(Context& context, Findings& out);
void joined_comparisons(Context& context, Findings& out);
// sets.cpp
void sets(Context& context, Findings& out);
// order.cpp
void equal_priorities(Context& context, Findings& out);
// hooks.cpp: what passes where nobody decided it
void hooks(Context& context, Findings& out);
// families.cpp
void families(Context& context, Findings& out);
// states.cpp
void states(Context& context, Findings& out);
void source_ports(Context& context, Findings& out);
// host_bits.cpp: needs Options::text
void host_bits(Context& context, Findings& out);
// dead.cpp, redundant.cpp: need Context::reach
void never_matches(Context& context, Findings& out);
void without_effect(Context& context, Findings& out);

}  // namespace bulkhead::compiler::lint
