// Whether a host of the site can send an example packet, and as which probe: a counterexample that
// is sent and arrives is no matter of belief any more.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "compiler/probe_plan.h"
#include "compiler/proof/example.h"

namespace bulkhead::compiler::proof {

class Senders {
 public:
  // `site` must outlive it. Outside worlds have hosts, as they do in a lab.
  Senders(const Site& site, const EnforcerView& view);

  // `others`: what else the packet needs beside addresses, ports and interfaces. Empty: it can be
  // sent.
  [[nodiscard]] std::string why_not(const Example& example, const std::string& others) const;
  // The ends of a packet that can be sent.
  [[nodiscard]] std::optional<std::pair<ProbeEnd, ProbeEnd>> ends(const Example& example) const;

 private:
  [[nodiscard]] const ProbeEnd* end_at(const Address& address, const std::string& interface) const;

  std::map<policy::ClassId, std::string> legs_;  // by which a class is reached; "" the enforcer
  std::multimap<Address, ProbeEnd> ends_;
};

// The transport and port of a probe: of ICMP the row of policy::kIcmpQueries. Nothing where no
// transport of ours sends such packets.
[[nodiscard]] std::optional<std::pair<compiler::Transport, std::uint16_t>> probe_of(
    const Example& example);

}  // namespace bulkhead::compiler::proof
