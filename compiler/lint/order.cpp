// Base chains of one priority, where the order that nobody promises decides.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/lint/checks.h"

namespace bulkhead::compiler::lint {

using namespace proof;

void equal_priorities(Context& context, Findings& out) {
  std::set<std::pair<Index, Index>> told;
  for (const TableFamily family : {TableFamily::Ip, TableFamily::Ip6, TableFamily::Bridge,
                                   TableFamily::Netdev, TableFamily::Arp})
    for (const Hook hook : {Hook::Ingress, Hook::Prerouting, Hook::Input, Hook::Forward,
                            Hook::Output, Hook::Postrouting, Hook::Egress})
      for (const auto& [a, b] : context.rules.ambiguous_order(family, hook))
        if (told.insert({a, b}).second)
          add(out, "equal-priority", Severity::Error,
              fmt::format("{} and {}", chain_name(context.ruleset, a),
                          chain_name(context.ruleset, b)),
              "they have one priority, the kernel promises no order, and the order changes what "
              "happens to packets",
              "give them different priorities");
}

}  // namespace bulkhead::compiler::lint
