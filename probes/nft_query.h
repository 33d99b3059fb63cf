// Small read-only questions to nf_tables by libmnl: the generation, and which hook a chain sits in.
// libnftables (GPL-2) is not for the agent.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>

namespace bulkhead::probes {

struct ChainKey {
  std::uint8_t family = 0;  // NFPROTO_*
  std::string table, chain;
  auto operator<=>(const ChainKey&) const = default;
  [[nodiscard]] std::string table_name() const;  // "inet bulkhead"
};

// Answers from memory once asked; a chain's hook never changes while the chain lives.
class ChainHooks {
 public:
  // "forward"; empty for a chain without a hook or one that is gone.
  [[nodiscard]] const std::string& hook_of(const ChainKey& chain);
  void clear() { known_.clear(); }

 private:
  std::map<ChainKey, std::string> known_;
};

// Generation of the ruleset (NFT_MSG_GETGEN); 0 where it cannot be read.
[[nodiscard]] std::uint32_t ruleset_generation();

}  // namespace bulkhead::probes
