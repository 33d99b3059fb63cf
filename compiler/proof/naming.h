// Boxes in the policy's words: classes for addresses, services for ports. What no name fits is
// written as it is.
#pragma once

#include <string>
#include <vector>

#include "compiler/proof/box.h"
#include "compiler/site.h"

namespace bulkhead::compiler::proof {

struct NamedBox {
  std::string from, to;    // "red", "red, blue", "10.9.0.0/16 (nobody's)", "anywhere"
  std::string traffic;     // "nfs (tcp 2049)", "tcp 22 from port 80", "anything"
  std::string state;       // "replies"; empty: of connections in any state
  std::string interfaces;  // "in by bond0.101, out by any but bond0.103"; empty: any
  std::string others;      // every other field of the box, in nft's words
  auto operator<=>(const NamedBox&) const = default;
};

// The families of a box: both where it does not say.
[[nodiscard]] std::vector<Family> families(const Box& box);

class Naming {
 public:
  // `site` must outlive it. Without a site addresses have no names.
  explicit Naming(const Site* site) : site_(site) {}
  [[nodiscard]] NamedBox name(const Box& box, Family family) const;

 private:
  [[nodiscard]] std::string addresses(const std::vector<ValueRange>* ranges, Family family) const;
  [[nodiscard]] std::string traffic(const Box& box, Family family) const;
  [[nodiscard]] std::string service(policy::Kind kind, const std::vector<ValueRange>& ports) const;

  const Site* site_;
};

}  // namespace bulkhead::compiler::proof
