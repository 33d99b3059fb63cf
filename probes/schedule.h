// Plan -> rounds. A round is what runs at the same time between one pair of controls: every source
// and every destination of its denied probes delivers, and answers, an allowed or anchor exchange
// just before and just after.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/probe_plan.h"
#include "probes/message.h"

namespace bulkhead::probes {

enum class ControlKind : std::uint8_t {
  AllowedFlow,  // an allowed flow of the matrix ends at, or starts from, this host
  Anchor,  // none is allowed: listener dialled from its own host; source known by its packets at
           // the enforcer
};

struct Control {
  std::string id;  // "c-12"
  ControlKind kind = ControlKind::AllowedFlow;
  std::string source_host;  // dials
  std::string target_host;  // listens; equal to source_host for an anchor
  DialTry exchange;         // tokens are made anew for Before and After by the conductor
};

struct ScheduledProbe {
  std::size_t probe = 0;  // index into the plan
  DialTry exchange;
  std::vector<std::size_t> source_controls, target_controls;  // indices into Round::controls
};

struct Round {
  std::uint32_t number = 0;
  std::vector<Control> controls;
  std::vector<ScheduledProbe> probes;
};

struct ScheduleOptions {
  std::size_t probes_per_round = 1500;
  std::uint64_t seed = 1;  // order, tokens and source ports
};

// Fresh 5-tuple for each exchange in the whole schedule. All probes of the plan appear exactly
// once.
[[nodiscard]] std::vector<Round> schedule(const compiler::ProbePlan& plan,
                                          const compiler::Site& site,
                                          const ScheduleOptions& options);

}  // namespace bulkhead::probes
