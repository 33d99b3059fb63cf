// The table that makes the kernel trace chosen packets and changes no verdict: `inet
// bulkhead_trace`, chains at priority -350 in prerouting and output set nftrace on exact 5-tuples;
// last chains (postrouting and input) let the trace show that a packet left.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policy/support/address.h"

namespace bulkhead::enforcement {

struct TracedTuple {
  std::uint8_t l4proto = 0;
  Address from;
  std::uint16_t sport = 0;  // ICMP: identifier
  Address to;
  std::uint16_t port = 0;  // ICMP: not matched
};

inline constexpr std::string_view kTraceTable = "bulkhead_trace";

// nft text of one transaction that (re)creates the table with these tuples.
[[nodiscard]] std::string trace_table_text(const std::vector<TracedTuple>& tuples);
[[nodiscard]] std::string trace_table_removal();  // safe where the table is absent

}  // namespace bulkhead::enforcement
