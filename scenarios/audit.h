// The whole line: compile, lab or live, load, probe, judge. Joins enforcement and probes, which do
// not know each other.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/compile.h"
#include "compiler/proof/member_proof.h"
#include "enforcement/backends/nft.h"
#include "probes/conduct.h"
#include "scenarios/lab.h"

namespace bulkhead::scenarios {

using compiler::proof::MemberProof;

enum class Where { Lab, Live };

// PathWatch over the nft of each managed enforcer's members, and their routing tables.
[[nodiscard]] std::unique_ptr<probes::PathWatch> nft_watch(
    std::map<std::string, std::unique_ptr<enforcement::Nft>> by_member,
    std::function<bool(const compiler::Probe&)> route_is_absent);

using Rulesets = std::vector<std::pair<std::string, std::string>>;      // enforcer -> nft text
[[nodiscard]] Rulesets rulesets(const compiler::Artifacts& artifacts);  // fw/nftables.nft is fw's

struct AuditOptions {
  Where where = Where::Lab;
  // Probe what is there: nothing is built, loaded or taken down. In a lab: the one that `lab up`
  // made, whose run is conduct.run.
  bool as_it_stands = false;
  // Default: bulkhead-agent beside this program (lab), in the remote PATH (live).
  std::string agent_program;
  compiler::PlanOptions plan;
  probes::ConductOptions conduct;
  std::vector<std::string> ssh_command;  // live; empty: default
  bool sudo = false;                     // live: agent, nft and ip are run by `sudo -n`
  // In place of the plan of the whole site.
  std::optional<compiler::ProbePlan> only;
  // Only these cells are probed; empty: all. Controls still use every flow of the matrix.
  std::vector<std::pair<policy::ClassId, policy::ClassId>> cells;
  // Lab only. Faults break things here: in the compiled texts before they are loaded, and in the
  // lab after that and before the first round.
  std::function<Status(Rulesets&)> edit_rules;
  std::function<Status(Lab&)> before_probing;
  std::function<void(const std::string& stage)> stage;  // "compile", "lab up", ... for progress
};

struct AuditResult {
  Where where = Where::Lab;
  compiler::ProbePlan plan;
  probes::ProbeOutcome outcome;
  std::vector<MemberProof> proofs;  // of each member of each managed enforcer
  std::chrono::milliseconds lab_up{}, probing{}, lab_down{};
};

[[nodiscard]] Result<AuditResult> audit(const compiler::Site& site, const AuditOptions& options);

}  // namespace bulkhead::scenarios
