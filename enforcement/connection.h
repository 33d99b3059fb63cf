// What the kernel remembers of a connection, and why an established one outlives the rule that
// allowed it: its replies pass by that memory. Revoking a flow takes it away.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/site.h"
#include "policy/support/address.h"
#include "policy/support/result.h"

namespace bulkhead::enforcement {

struct Connection {
  struct Tuple {
    Address from, to;
    std::uint8_t protocol = 0;
    std::uint16_t sport = 0, dport = 0;  // TCP, UDP, SCTP, DCCP
    std::uint8_t icmp_type = 0;
  };
  Tuple original, reply;  // reply.from is the real destination, whatever NAT made of it
  std::uint16_t zone = 0;
  std::vector<std::uint8_t> key;  // the kernel's own attributes that name it: tuple, zone, id
};
[[nodiscard]] std::string to_string(const Connection& connection);

// Of the calling thread's network namespace: both families, all protocols, all zones. A dump that
// the kernel says is torn is asked again.
[[nodiscard]] Result<std::vector<Connection>> list_connections();
// Exactly these; one that is gone by itself is no error.
[[nodiscard]] Status delete_connections(const std::vector<Connection>& connections);

// What the policy allows through one enforcer, asked of many connections.
class Allowance {
 public:
  // `site` and `view` must outlive it.
  Allowance(const compiler::Site& site, const compiler::EnforcerView& view);

  // From its original source to its real destination, in its zone. What only links need
  // (multicast, link-local), what a machine says to itself and RoCE, which passes without any
  // memory, is left alone.
  [[nodiscard]] bool covers(const Connection& connection);

 private:
  const std::vector<policy::ClassId>& holders(const Address& address);
  [[nodiscard]] bool is_in_zone(policy::ClassId cls, std::uint16_t zone) const;

  const compiler::Site& site_;
  policy::ClassId self_;
  std::map<policy::ClassId, std::uint16_t> zones_;  // of classes on a leg
  std::map<Address, std::vector<policy::ClassId>> holders_;
};

}  // namespace bulkhead::enforcement
