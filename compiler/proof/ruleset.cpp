#include "compiler/proof/ruleset.h"

#include <algorithm>
#include <array>

namespace bulkhead::compiler::proof {

std::string_view to_string(TableFamily family) {
  constexpr std::array<std::string_view, 6> kNames{"ip", "ip6", "inet", "bridge", "netdev", "arp"};
  return kNames[static_cast<std::size_t>(family)];
}

std::string_view to_string(Hook hook) {
  constexpr std::array<std::string_view, 7> kNames{"ingress", "prerouting",  "input", "forward",
                                                   "output",  "postrouting", "egress"};
  return kNames[static_cast<std::size_t>(hook)];
}

std::string_view to_string(VerdictKind kind) {
  constexpr std::array<std::string_view, 8> kNames{"accept", "drop", "continue", "return",
                                                   "jump",   "goto", "reject",   "queue"};
  return kNames[static_cast<std::size_t>(kind)];
}

unsigned bits(const Operand& operand) {
  return operand.selector == Selector::Raw ? operand.place.bits : info(operand.selector).bits;
}

std::int32_t effective_priority(const BaseChain& chain) {
  if (chain.type != ChainType::Nat)
    return chain.priority;
  return chain.hook == Hook::Postrouting || chain.hook == Hook::Input ? 100 : -100;
}

std::vector<Index> chains_at(const Ruleset& ruleset, TableFamily family, Hook hook) {
  const bool meets_inet = family == TableFamily::Ip || family == TableFamily::Ip6 ||
                          (family == TableFamily::Netdev && hook == Hook::Ingress);
  std::vector<Index> found;
  for (Index i = 0; i < ruleset.chains.size(); ++i) {
    const Chain& chain = ruleset.chains[i];
    const TableFamily of_table = ruleset.table_of(chain).family;
    if (chain.base && chain.base->hook == hook &&
        (of_table == family || (meets_inet && of_table == TableFamily::Inet)))
      found.push_back(i);
  }
  const auto order = [&](Index i) {
    const BaseChain& base = *ruleset.chains[i].base;
    return std::pair(effective_priority(base), base.priority);
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](Index a, Index b) { return order(a) < order(b); });
  return found;
}

std::string chain_name(const Ruleset& ruleset, Index chain) {
  const Table& table = ruleset.table_of(ruleset.chains[chain]);
  return std::string(to_string(table.family)) + ' ' + table.name + ' ' + ruleset.chains[chain].name;
}

}  // namespace bulkhead::compiler::proof
