// Matrix -> what to send. The plan names every packet that any agent may send; agents send nothing
// else. It knows hosts and addresses, not sockets: probes/ turns it into rounds. Written as
// probes.json, schema bulkhead.probe/1.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/site.h"

namespace bulkhead::compiler {

enum class Transport : std::uint8_t { Tcp, Udp, Icmp };
[[nodiscard]] std::string_view to_string(Transport transport);

enum class Expect : std::uint8_t { Allow, Deny };

struct ProbeEnd {
  policy::ClassId cls = 0;
  std::string host;  // inventory host, or an enforcer's member
  std::string nic;   // or leg
  Address address;
  bool agentless = false;
  std::string stands_for;  // host in whose place this one is probed; empty: itself
};

struct Probe {
  std::string id;  // "p-000317", in plan order
  ProbeEnd from, to;
  Transport transport = Transport::Tcp;
  std::uint16_t port = 0;  // destination port; ICMP: row of policy::kIcmpQueries
  std::uint16_t size = 0;  // payload bytes; UDP probes come small and larger than the MTU
  Expect expect = Expect::Deny;
  Cause cause = Cause::None;  // of a deny
  std::string enforcer;       // managed enforcer that decides; empty: none on the path
  std::string rule;           // id(s) that decide, "default" or "inside"
};

// A cell that no probe can decide, and why: no agent at the source, no member of a family on both
// sides, ib only.
struct Unprobed {
  policy::ClassId from = 0, to = 0;
  std::string reason;
};

struct PlanOptions {
  std::uint64_t seed = 1;  // chooses representatives among a class's hosts
  std::vector<std::string> include,
      exclude;  // tags: class, segment, tenant, transport or rule names
};

struct ProbePlan {
  std::vector<Probe> probes;  // sorted by from, to, transport, family, port
  std::vector<Unprobed> unprobed;
};

[[nodiscard]] ProbePlan plan_probes(const Site& site, const PlanOptions& options);
[[nodiscard]] std::string to_json(const ProbePlan& plan, const Site& site);

}  // namespace bulkhead::compiler
