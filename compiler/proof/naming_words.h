// Words for sets of numbers: lists that stay short, and protocols, ports and ICMP types by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/proof/box.h"
#include "policy/matrix.h"

namespace bulkhead::compiler::proof {

// "a, b, c"; a long one is cut: "a, b, c, d, e, f and 9 more".
[[nodiscard]] std::string listed(const std::vector<std::string>& items);
// "0-3, 7"
[[nodiscard]] std::string numbers(const std::vector<ValueRange>& ranges);
// What the ranges leave out of 0 to `max`.
[[nodiscard]] std::vector<ValueRange> but(const std::vector<ValueRange>& ranges, Value max);

// Protocol, ports and ICMP type of a box: "nfs (tcp 2049)", "everything but icmp and udp",
// "icmpv6 echo-request", "tcp from port 80". Services are looked for where `matrix` is given.
[[nodiscard]] std::string traffic_words(const Box& box, Family family,
                                        const policy::Matrix* matrix);

}  // namespace bulkhead::compiler::proof
