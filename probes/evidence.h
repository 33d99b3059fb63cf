// What one end saw of one try. Evidence is facts, never a judgement: judge.h holds them against the
// plan. One JSON line each, schema bulkhead.evidence/1.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/support/address.h"
#include "policy/support/result.h"

namespace bulkhead::probes {

// Random, fresh for each try, carried by the probe: 16 bytes in UDP, ICMP and TCP payloads; its
// first four bytes are the SYN's initial sequence number, so that a SYN is known also behind a NAT
// that changes the 5-tuple.
using Token = std::array<std::uint8_t, 16>;
[[nodiscard]] std::string to_hex(const Token& token);
[[nodiscard]] std::optional<Token> token_from_hex(std::string_view text);

enum class End : std::uint8_t {
  Dialer,
  Listener,
  Enforcer,
  Bystander,  // a host that the packet was not for
};

enum class Outcome : std::uint8_t {
  // Dialer
  Answered,     // a listener's answer came back: `answer` holds its proof of identity
  Accepted,     // TCP handshake completed, but no valid answer
  Refused,      // RST, or ICMP port unreachable
  Unreachable,  // ICMP unreachable or prohibited: `icmp_*` says which and from whom
  Timeout,
  NoRoute,      // the sender's own stack has no route: nothing was sent
  SetupFailed,  // socket, bind or send failed: nothing is known
  Sent,  // left the socket, nothing came back, no error (ICMP and UDP before their deadline is a
         // Timeout)
  // Listener
  TokenSeen,   // a payload with this token arrived; answered
  SynSeen,     // a SYN with this token arrived at the NIC, whatever became of the handshake
  PacketSeen,  // same for all other packets: the NIC received it
  // Enforcer
  Dropped,    // final drop or reject: table, chain, rule say by whom
  Left,       // passed every hook and left by `interface`
  Delivered,  // passed every hook to a local socket
};
[[nodiscard]] std::string_view to_string(End end);
[[nodiscard]] std::string_view to_string(Outcome outcome);

// An ICMP query has no ports: its identifier takes the place of the source port, and its sequence
// number says which row of policy::kIcmpQueries it is.
inline constexpr std::uint16_t kFirstQuery = 1;

struct Tuple {
  Address from;
  std::uint16_t sport = 0;  // ICMP: identifier; Raw: the first two bytes behind the IP header
  Address to;
  std::uint16_t port = 0;  // ICMP: sequence number, kFirstQuery + the query; Raw: IP protocol
  auto operator<=>(const Tuple&) const = default;
};

using Mac = std::array<std::uint8_t, 6>;

// Where the sender's own stack sends a packet next.
struct NextHop {
  Address address;         // a gateway's, or the destination's own
  std::optional<Mac> mac;  // none: it has not been told
  bool permanent = false;  // the entry was written by hand: it asks nobody
  bool link_up = false;    // its NIC has a carrier
};

struct Evidence {
  std::string probe;
  std::uint32_t attempt = 1;
  std::uint32_t round = 0;
  End end = End::Dialer;
  std::string agent;  // host or member
  std::string run;
  Outcome outcome = Outcome::SetupFailed;
  int error = 0;  // errno, dialer only
  std::chrono::microseconds elapsed{};
  Tuple tuple;  // as this end saw it: differs from the plan behind a NAT
  std::string carrier = "ethernet";
  // Hex, as this end saw it. Of a SYN a bystander knows the first four bytes alone.
  std::string token;
  std::string answer;  // dialer: hex HMAC-SHA256(listener's key, token), first 16 bytes
  std::optional<std::uint8_t> icmp_type, icmp_code;  // dialer: of the error that came back
  std::optional<Address> icmp_from;
  std::optional<NextHop> next_hop;  // dialer: after silence
  // Enforcer: the last word. `rule` is the rule's comment, as far as the enforcer's agent or the
  // operator's index knows it.
  std::string hook, table, chain, verdict, rule, interface;
  std::uint64_t handle = 0;
  std::uint32_t generation = 0;
  std::string detail;  // free text for people: why a set-up failed
};

[[nodiscard]] std::string to_json_line(const Evidence& evidence);  // without the newline
[[nodiscard]] Result<Evidence> evidence_from_json(std::string_view line);

}  // namespace bulkhead::probes
