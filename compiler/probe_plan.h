// Matrix -> what to send. The plan names every packet that any agent may send; agents send nothing
// else. It knows hosts and addresses, not sockets: probes/ turns it into rounds. probe_book.h is
// how it is made and written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/site.h"

namespace bulkhead::compiler {

enum class Transport : std::uint8_t {
  Tcp,
  Udp,
  Icmp,
  Raw,  // any other IP protocol: the token behind four bytes that make the packet one of its kind
};
[[nodiscard]] std::string_view to_string(Transport transport);

// What the packet carries. The RoCEv2 templates (UDP to 4791) put a 12-byte base transport header
// in front of the token, since firewalls tell requests from answers by its opcode; no queue pair
// takes part. Their arrival is all there is to see: an answer of the listener is not required.
enum class Payload : std::uint8_t {
  Token,            // 16 bytes of token, then filling
  RoceRequest,      // BTH with opcode RC SEND-only (0x04), then the token
  RoceAcknowledge,  // BTH with opcode RC acknowledge (0x11), then the token
  LoneAck,  // TCP only: a segment with ACK alone and the token, of a connection that there is not
};
[[nodiscard]] std::string_view to_string(Payload payload);
inline constexpr std::size_t kBthBytes = 12;  // IBTA 9.2

// Bytes after the token of UDP probes: one that fits everywhere, one larger than any usual MTU, as
// fragments have no ports and take another way through many filters.
inline constexpr std::uint16_t kSmallPayload = 48;
inline constexpr std::uint16_t kLargePayload = 4000;

enum class Expect : std::uint8_t { Allow, Deny };
[[nodiscard]] std::string_view to_string(Expect expect);

using EndId = std::uint32_t;  // of a list of ends
struct ProbeEnd {
  policy::ClassId cls = 0;
  std::string host;  // inventory host, or an enforcer's member
  std::string nic;   // or leg
  Address address;
  bool agentless = false;
  std::string stands_for;  // host in whose place this one is probed; empty: itself
};

// A host with NICs in two segments and `forwards = false`: the sender hands its packet to the NIC,
// as if that host were its gateway. What arrives at the other side went around every enforcer.
struct Detour {
  std::string host;  // empty: none
  std::string nic;   // in the sender's segment
};

struct Probe {
  std::string id;  // "p-000317", in plan order
  ProbeEnd from, to;
  Transport transport = Transport::Tcp;
  Payload payload = Payload::Token;
  std::uint16_t port = 0;  // destination port; ICMP: row of policy::kIcmpQueries; Raw: IP protocol
  // Source port that the service demands (DHCP); 0: a fresh one for each try.
  std::uint16_t sport = 0;
  std::uint16_t size = 0;  // bytes after the token, UDP only
  Expect expect = Expect::Deny;
  Cause cause = Cause::None;  // of a deny
  std::string enforcer;       // managed enforcer that decides; empty: none on the path
  std::string rule;           // id(s) that decide, "default" or "inside"
  Detour detour{};            // not over the path at all, but through a host
};

// What no probe can decide, and why: no agent at the source, no member of a family on both sides,
// InfiniBand.
struct Unprobed {
  policy::ClassId from = 0, to = 0;
  std::string what;  // a part of the cell: "v6", "sctp 5000"; empty: all of it
  std::string reason;
  bool vacuous = false;  // there are no two hosts, or no family, between which anything could flow
  bool not_asked = false;  // left out by PlanOptions
};

struct PlanOptions {
  std::uint64_t seed = 1;  // chooses representatives among a class's hosts
  std::vector<std::string> include,
      exclude;  // tags: class, segment, tenant, transport, family or rule names, "allow", "deny"
  // Whether the hosts of outside worlds (compiler/placement.h) exist: in a lab they do.
  bool outside_hosts = true;
};

struct ProbePlan {
  std::vector<Probe> probes;  // sorted by from, to, transport, family, port
  std::vector<Unprobed> unprobed;
};

[[nodiscard]] ProbePlan plan_probes(const Site& site, const PlanOptions& options);

}  // namespace bulkhead::compiler
