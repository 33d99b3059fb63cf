// Claims on ranges of a key, overlapping as they come, cut into disjoint ranges that each list all
// their claimants. Neighbours with the same claimants are one range. nftables needs it: a named
// interval map refuses overlaps, and an anonymous one merges them silently (nft 1.0.6).
#pragma once

#include <algorithm>
#include <vector>

#include "policy/support/interval_set.h"

namespace bulkhead::compiler {

template <class K, class V>
struct Claim {
  Interval<K> range;
  V value{};
  auto operator<=>(const Claim&) const = default;
};

template <class K, class V>
struct Claimed {
  Interval<K> range;
  std::vector<V> values;  // sorted, unique
};

// Sorted by range. Ranges of different kinds (address families) never join: `succ` wraps within
// one.
template <class K, class V>
std::vector<Claimed<K, V>> disjoint(std::vector<Claim<K, V>> claims) {
  std::sort(claims.begin(), claims.end());
  std::vector<Claimed<K, V>> out;
  std::vector<Claim<K, V>> open;  // those that cover `at`
  K at{};
  auto next = claims.begin();
  while (next != claims.end() || !open.empty()) {
    if (open.empty())
      at = next->range.first;
    for (; next != claims.end() && next->range.first == at; ++next)
      open.push_back(*next);
    K end = open.front().range.last;
    for (const auto& claim : open)
      end = std::min(end, claim.range.last);
    if (next != claims.end() && next->range.first <= end)
      end = pred(next->range.first);

    std::vector<V> values;
    for (const auto& claim : open)
      values.push_back(claim.value);
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    const bool joins = !out.empty() && out.back().range.last < at &&
                       succ(out.back().range.last) == at && out.back().values == values;
    if (joins) {
      out.back().range.last = end;
    } else {
      out.push_back({{at, end}, std::move(values)});
    }
    std::erase_if(open, [&](const auto& claim) { return claim.range.last == end; });
    if (!open.empty())
      at = succ(end);
  }
  return out;
}

}  // namespace bulkhead::compiler
