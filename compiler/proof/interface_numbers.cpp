#include "compiler/proof/interface_numbers.h"

#include <fmt/format.h>

#include <algorithm>

namespace bulkhead::compiler::proof {

namespace {

constexpr std::string_view kReason =
    "interfaces by number: which one has it, only the machine knows that the rules are for";

bool is_interface(const Operand& operand) {
  return operand.selector == Selector::MetaIifname || operand.selector == Selector::MetaOifname ||
         operand.selector == Selector::MetaSdifname;
}

}  // namespace

void doubt_interface_numbers(Ruleset& ruleset) {
  for (Set& set : ruleset.sets)
    if (!set.dead_interfaces.empty()) {
      set.unmodelled = kReason;
      set.dead_interfaces.clear();
    }
  for (Chain& chain : ruleset.chains)
    for (Rule& rule : chain.rules) {
      if (rule.dead_interfaces.empty())
        continue;
      const std::string numbers = fmt::format("{}", fmt::join(rule.dead_interfaces, ", "));
      for (Statement& statement : rule.statements) {
        const auto* match = std::get_if<Match>(&statement);
        if (match != nullptr && std::any_of(match->key.begin(), match->key.end(), is_interface))
          statement = Unmodelled{Unmodelled::Kind::Condition, "interface number " + numbers,
                                 std::string(kReason)};
      }
      rule.dead_interfaces.clear();
    }
}

}  // namespace bulkhead::compiler::proof
