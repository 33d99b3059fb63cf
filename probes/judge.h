// Evidence against plan -> verdict. Asymmetric: one denied packet delivered, in any try, is a leak
// for ever; silence alone proves nothing. Pure; docs/verdicts.md is its table, tests/unit/judge has
// a test for each line of it.
#pragma once

#include <string>
#include <vector>

#include "compiler/probe_bridges.h"
#include "compiler/probe_plan.h"
#include "probes/evidence.h"

namespace bulkhead::probes {

enum class Finding : std::uint8_t {
  Conforms,
  NotCovered,
  Silent,
  Inconclusive,
  Outage,
  Leak
};  // worse is later
[[nodiscard]] std::string_view to_string(Finding finding);

enum class Control3 : std::uint8_t { Good, Failed, Absent };

struct ControlResult {
  Control3 before = Control3::Absent;
  Control3 after = Control3::Absent;
  bool anchor = false;
  [[nodiscard]] bool good() const { return before == Control3::Good && after == Control3::Good; }
};

// One try of one probe with all that was seen around it.
struct TryRecord {
  std::uint32_t attempt = 1;
  std::uint32_t round = 0;
  Tuple sent;
  Token token{};
  bool round_void =
      false;  // it could not be watched as a whole: a ruleset on this path changed, ...
  std::string void_reason;
  bool cut_short = false;    // the deadline came in the middle of the round
  bool events_lost = false;  // the enforcer's agent or the listener missed events in this round
  bool dialer_alive = true;  // agent answered `dialed` and `collected`
  bool listener_alive = true;
  bool watcher_alive = true;  // an agent on an enforcer of the path, where there is one
  ControlResult source, target;
  std::vector<Evidence> evidence;  // of this try, from every end
};

struct ProbeCase {
  compiler::Probe probe;
  std::string expected_answer_key;  // hex key of the listener's agent, to check `answer`
  // Members that must have seen an allowed packet and may drop a denied one; of a pair either.
  std::vector<std::string> enforcers;
  std::vector<std::string> planned_rules;  // comments of rules that are the planned cause
  std::vector<Address> gateway_addresses;  // whose "unreachable" is the planned Route cause
  std::vector<Mac> target_macs;            // of the destination's host; empty: nobody knows
  bool route_absent = false;               // the VRF's table was read back and has no route
  bool no_gateway = false;  // the sender's segment has no router: its own "no route" is the cause
  bool passive = false;     // a real service holds the port: watched, it cannot answer for us
  // Class on the same leg that may do this: a drop does not separate the two. Empty: separated.
  std::string not_separated_from;
  bool silence_accepted = false;  // External control with accept_silence in force
  bool silence_external = false;  // External control
  std::string enforcer_table = "inet bulkhead";
  std::vector<TryRecord> tries;

  // Sent in a frame to a NIC of another segment: is there a bridge between the two?
  [[nodiscard]] bool bridged() const { return probe.rule == compiler::kRuleBridged; }
};

struct Verdict {
  std::string probe;
  Finding finding = Finding::Inconclusive;
  std::string
      kind;  // "delivered", "blocked", "silent", "refused by host", "blocked by another cause", ...
  compiler::Cause cause = compiler::Cause::None;
  std::vector<std::string> seen;  // "enforcer:fw-a:default", "listener:r1g01", ...
  std::string controls;           // "2/2"
  std::uint32_t tries = 0;
  std::string reason;  // one sentence for people
};

[[nodiscard]] Verdict judge(const ProbeCase& probe_case);
[[nodiscard]] Finding worst_of(const std::vector<Verdict>& verdicts);  // of none: Conforms
[[nodiscard]] std::string to_json_line(const Verdict& verdict);

}  // namespace bulkhead::probes
