// Boxes in the policy's words: classes for addresses, services for ports, types for ICMP. What no
// name fits is written as it is.
#pragma once

#include <string>
#include <vector>

#include "compiler/proof/box.h"
#include "compiler/site.h"

namespace bulkhead::compiler::proof {

struct NamedBox {
  std::string from, to;  // "red", "red, 10.3.0.11 (storage)", "unused addresses of red", "anywhere"
  std::string traffic;   // "nfs (tcp 2049)", "everything but icmp and udp", "icmp echo-request"
  std::string state;     // "replies"; empty: of connections in any state
  std::string interfaces;  // "in by bond0.101, out by any but bond0.103"; empty: any
  std::string others;      // every other field of the box, in nft's words
  auto operator<=>(const NamedBox&) const = default;
};

// The families of a box: both where it does not say.
[[nodiscard]] std::vector<Family> families(const Box& box);
// What a box says of a field; null: nothing.
[[nodiscard]] const std::vector<ValueRange>* ranges_of(const Box& box, Field field);

class Naming {
 public:
  // Both must outlive it. Without a site addresses have no names; without a view no interface is a
  // leg, and differences are not sorted by whom they concern.
  explicit Naming(const Site* site, const EnforcerView* view = nullptr)
      : site_(site), view_(view) {}
  [[nodiscard]] NamedBox name(const Box& box, Family family) const;
  [[nodiscard]] const Site* site() const { return site_; }
  [[nodiscard]] const EnforcerView* view() const { return view_; }

 private:
  [[nodiscard]] std::string addresses(const std::vector<ValueRange>* ranges, Family family) const;
  [[nodiscard]] std::string interfaces(const std::vector<ValueRange>* ranges,
                                       std::string_view by) const;

  const Site* site_;
  const EnforcerView* view_;
};

}  // namespace bulkhead::compiler::proof
