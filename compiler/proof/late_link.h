// The link header behind routing. The kernel may have moved a forwarded packet to another buffer by
// then, and whether nf_tables still finds the header depends on that buffer's room: `ether saddr`
// in postrouting matched from a veth to a veth and did not from a tap to a tun (kernel 6.18).
#pragma once

#include "compiler/proof/ruleset.h"

namespace bulkhead::compiler::proof {

// Rules that look at the link header, in chains that a base chain of postrouting or egress reaches,
// get an Unmodelled condition in front: they may match or not.
void mark_late_link(Ruleset& ruleset);

}  // namespace bulkhead::compiler::proof
