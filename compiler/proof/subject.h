// What kind of packets a difference is about, in the order in which people want to hear of it: what
// tenants can open to each other comes before what nobody's address or a stranger's interface may.
// Packets are sorted by addresses and interfaces alone; difference.h adds their state.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/proof/prove.h"
#include "compiler/site.h"

namespace bulkhead::compiler::proof {

enum class Subject : std::uint8_t {
  Any,        // without a site nothing is known of addresses
  Tenants,    // between classes of two tenants, each by its own leg
  Classes,    // between other classes, each by its own leg
  State,      // packets that begin no connection, let through or stopped for that alone
  Link,       // neighbour discovery, groups, link-local addresses, loopback
  Misplaced,  // addresses of the site where they do not belong: another leg, not the enforcer's own
  Nobody,     // from or to an address that nobody holds
  Stranger,   // in or out by an interface that is no leg of the enforcer
};
[[nodiscard]] std::string_view to_string(Subject subject);  // "tenants", ...: for machines
[[nodiscard]] std::string title(Subject subject, std::string_view enforcer);  // for people

class Subjects {
 public:
  // All must outlive it. Either none or both of `site` and `view`.
  Subjects(Diagrams& space, const Site* site, const EnforcerView* view, Passage passage);

  // Each packet of the passage is in one part. In order of Subject, without State.
  [[nodiscard]] const std::vector<std::pair<Subject, Diagram>>& parts() const { return parts_; }
  // Tenants and Classes together.
  [[nodiscard]] Diagram at_home() const { return at_home_; }
  // Of an enforcer's own packets those that a reader expects: by the leg that holds the address.
  [[nodiscard]] Diagram usual() const { return usual_; }

 private:
  Diagram addresses(const AddressSet& set, bool source);
  Diagram at_interface(const std::string& leg, bool entering);
  // By their own leg; the enforcer's own addresses without one.
  Diagram at_own_place(bool source, bool at_enforcer);
  Diagram between_tenants();
  Diagram between_neighbours();
  void find_usual(Passage passage);
  Diagram of_link();
  Diagram on_legs(bool entering);

  Diagrams& space_;
  const Site* site_;
  const EnforcerView* view_;
  bool in_vrf_ = false;
  std::vector<std::pair<Subject, Diagram>> parts_;
  Diagram at_home_;
  Diagram usual_;
};

}  // namespace bulkhead::compiler::proof
