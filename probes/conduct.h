// Runs a schedule: launches agents, opens listeners behind a barrier, drives rounds, retries
// allowed probes, gathers evidence and judges. Knows nothing of nftables: what watches the path is
// behind PathWatch.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "probes/judge.h"
#include "probes/launcher.h"
#include "probes/schedule.h"

namespace bulkhead::probes {

// The operator's hand on the enforcers of the path; enforcement implements it (scenarios/ joins the
// two).
class PathWatch {
 public:
  virtual ~PathWatch() = default;
  // Before a round: trace exactly these tries on every enforcer. Replaces what was armed before.
  virtual Status arm(const std::vector<Expected>& tries) = 0;
  // A value that changes whenever a base chain (or anything reachable from one) of any owner
  // changes on `member`, except for our own trace table.
  virtual Result<std::string> mark(const std::string& member) = 0;
  // Fills in `rule` (comment) from table, chain and handle.
  virtual void name_rule(Evidence& evidence) = 0;
  // Cause Route on a member that we can read: does its table, read back, have no way for this
  // probe? False where that cannot be known.
  virtual bool route_is_absent(const compiler::Probe& /*probe*/) { return false; }
  virtual Status disarm() = 0;
};

struct ConductOptions {
  std::string run;  // id of this run
  std::uint64_t seed = 1;
  std::chrono::milliseconds try_timeout{1000};  // how long a try may take at most
  // How long an agent may take to answer what needs no packets, before it counts as dead.
  std::chrono::milliseconds patience{15000};
  std::uint32_t allow_retries = 2;
  std::size_t probes_per_round = 1500;
  // Hosts whose agents look on, beside those that the plan names: a copy of a denied packet may
  // turn up anywhere.
  std::set<std::string> watchers;
  std::optional<std::chrono::steady_clock::time_point> deadline;
  const std::atomic<bool>* stop =
      nullptr;  // set by a signal: finish this message, collect, return Interrupted
  std::function<void(std::size_t done, std::size_t total)> progress;
  std::function<void(const std::string& line)>
      evidence_line;  // every evidence as it comes, for --output
};

// What is wrong with the site though no probe of the plan says so: a host that forwards against its
// word is a path around the firewall.
struct SiteFinding {
  Finding finding = Finding::Inconclusive;
  std::string subject;  // host
  std::string reason;   // one sentence
};

struct ProbeOutcome {
  std::vector<Verdict> verdicts;    // one for each probe of the plan, in plan order
  std::uint64_t packets_tried = 0;  // tries, retries and controls
  std::uint64_t retries = 0;
  std::uint32_t rounds = 0, void_rounds = 0;
  std::map<std::string, Facts> facts;  // by host
  std::vector<SiteFinding> findings;
  std::vector<std::string> notes;  // agents that died, passive ports, reports nobody asked for
  bool timed_out = false;          // the deadline came before everything was tried
};

// Errors: Interrupted when `stop` was set, Environment when no agent at all could be started. An
// agent that dies later, or alone, only makes what needed it Inconclusive. At the
// deadline the round that runs is void, what was not tried Inconclusive: a leak found before must
// not be lost.
[[nodiscard]] Result<ProbeOutcome> conduct(const compiler::Site& site,
                                           const compiler::ProbePlan& plan, Launcher& launcher,
                                           PathWatch& watch, const ConductOptions& options);

}  // namespace bulkhead::probes
