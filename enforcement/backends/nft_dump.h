// One question to nf_tables itself, past libnftables: for what nft 1.0.6 does not list.
#pragma once

#include <libmnl/libmnl.h>

#include <cstdint>
#include <string_view>

#include "policy/support/result.h"

namespace bulkhead::enforcement {

// Asks for all objects (NFT_MSG_GETTABLE, ...) of the calling thread's network namespace; `each` is
// called with every answer. `what` names them in errors.
[[nodiscard]] Status dump_nftables(std::uint16_t message, std::string_view what, mnl_cb_t each,
                                   void* out);

// "inet", of an answer's NFPROTO_*.
[[nodiscard]] std::string_view table_family_name(int family);

}  // namespace bulkhead::enforcement
