// Places of the kernel among the priorities of base chains (linux/netfilter_ipv4.h; IPv6 has the
// same).
#pragma once

#include <cstdint>

namespace bulkhead::compiler::proof {

// Fragments are put together here (NF_IP_PRI_CONNTRACK_DEFRAG), where anything tracks connections.
inline constexpr std::int32_t kDefragment = -400;
// Where conntrack looks a packet up (NF_IP_PRI_CONNTRACK); chains before it see no state.
inline constexpr std::int32_t kConntrack = -200;

}  // namespace bulkhead::compiler::proof
