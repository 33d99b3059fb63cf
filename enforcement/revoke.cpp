#include "enforcement/revoke.h"

#include <algorithm>
#include <iterator>

namespace bulkhead::enforcement {

Result<std::vector<Connection>> forbidden_connections(Backend& backend, const Target& target) {
  std::vector<Connection> out;
  if (!target.site)
    return out;
  auto all = backend.connections();
  if (!all)
    return all;
  Allowance allowance(*target.site, *target.view);
  std::copy_if(all->begin(), all->end(), std::back_inserter(out),
               [&](const Connection& one) { return !allowance.covers(one); });
  return out;
}

Result<std::vector<Connection>> revoke(Backend& backend, const Target& target) {
  constexpr int kPasses = 5;
  std::vector<Connection> done;
  for (int pass = 0; pass < kPasses; ++pass) {
    const auto found = forbidden_connections(backend, target);
    if (!found)
      return found;
    if (found->empty())
      return done;
    if (Status cut = backend.cut(*found); !cut)
      return fail(cut.error());
    done.insert(done.end(), found->begin(), found->end());
  }
  return done;
}

}  // namespace bulkhead::enforcement
