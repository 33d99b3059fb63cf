// What an audit needs of a live listing: comments of rules by handle, and a digest of everything
// that can decide a packet.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "policy/support/result.h"

namespace bulkhead::enforcement {

struct RulesetIndex {
  // (family+name of table: "inet bulkhead", chain, handle) -> comment
  std::map<std::tuple<std::string, std::string, std::uint64_t>, std::string> comments;
  // SHA-256 over chains, rules, sets and maps of all tables but ours for tracing; counters and
  // handles left out.
  std::string digest;
};

// The same digest in two parts; empty where there is nothing of that part.
struct RulesetDigests {
  std::string ours;     // table inet bulkhead
  std::string foreign;  // all others, but ours for tracing
};
[[nodiscard]] Result<RulesetDigests> digest_ruleset(std::string_view nft_json);

[[nodiscard]] Result<RulesetIndex> index_ruleset(std::string_view nft_json);

}  // namespace bulkhead::enforcement
