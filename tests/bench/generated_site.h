// Sites of any size, in memory, for measuring: 250 classes of both families (50 segments on 50
// legs, 5 labels in each), and flows that each end up as elements of their own.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "compiler/site.h"

namespace bulkhead::bench {

struct Generated {
  std::map<std::string, std::string> files;  // policy.toml, inventory.toml
  [[nodiscard]] policy::FileReader reader() const;
};

// `flows` flows, `per_pair` of them between the same two classes: ids differ, so none merge.
[[nodiscard]] Generated many_flows(std::size_t flows, std::size_t per_pair = 4);

// The same traffic (host 0 of segment 0 to host 0 of segment 1, udp 5000) in a site that is large
// in one way only.
[[nodiscard]] Generated many_sources(std::size_t sources);    // on one leg, a class each
[[nodiscard]] Generated many_ports(std::size_t ports);        // towards one prefix
[[nodiscard]] Generated many_prefixes(std::size_t prefixes);  // with one port

}  // namespace bulkhead::bench
