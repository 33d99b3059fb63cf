// Counterexamples of a proof as a probe plan: each example packet that a host of the site can send,
// expected to end as the policy says. What `bulkhead prove --probes` writes and `bulkhead probe
// --plan` sends.
#pragma once

#include <span>

#include "compiler/probe_book.h"
#include "compiler/proof/difference.h"

namespace bulkhead::compiler {

// Findings of one enforcer. Adds to `book`; examples that cannot be sent are left out, with the
// reason in Difference::not_sendable. Returns how many were added.
std::size_t add_counterexamples(const Site& site, const EnforcerView& view,
                                std::span<const proof::Finding> findings, ProbeBook& book);

}  // namespace bulkhead::compiler
