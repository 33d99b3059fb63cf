// Would the new rules end the way by which people come to this machine? Decided before anything is
// loaded, by the same engine that proves rulesets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "enforcement/nft_target.h"
#include "policy/support/address.h"
#include "policy/support/result.h"

namespace bulkhead::enforcement {

struct SshSession {
  Address client, server;
  std::uint16_t client_port = 0, server_port = 0;
  auto operator<=>(const SshSession&) const = default;
};
// The operator's own (SSH_CONNECTION, which sudo takes away) and all established ones that belong
// to an sshd in this network namespace. Those of this machine with itself are left out.
[[nodiscard]] std::vector<SshSession> ssh_sessions();

// The interface by which this machine answers an address; empty: none. Of the calling thread's
// network namespace.
[[nodiscard]] std::string interface_towards(const Address& address);

// A sentence for each way that is open now and would not be: the packet, and the rule that stops
// it. Looked at are sessions, in both directions, and the ways to this enforcer's ssh that the
// target's or the last policy allows. `last` may be null.
[[nodiscard]] Result<std::vector<std::string>> lockouts(const Snapshot& live, const Target& target,
                                                        const Target* last);

}  // namespace bulkhead::enforcement
