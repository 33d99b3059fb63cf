// Plan -> rounds. A round is what runs at the same time between one pair of controls: every source
// and every destination of its denied probes delivers, and answers, an allowed or anchor exchange
// just before and just after.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/probe_plan.h"
#include "probes/message.h"
#include "probes/tuples.h"

namespace bulkhead::probes {

enum class ControlKind : std::uint8_t {
  AllowedFlow,  // an allowed flow of the matrix ends at, or starts from, this host
  Anchor,       // the listener dialled from its own host: it lives, but says nothing of the path
};

struct Control {
  std::string id;  // "c-12"
  ControlKind kind = ControlKind::AllowedFlow;
  std::string source_host;  // dials
  std::string target_host;  // listens; equal to source_host for an anchor
  DialTry before, after;    // two exchanges: a 5-tuple is never used twice
};

// A source without an allowed flow has no controls here: it is known by its packets at the
// enforcer.
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
  std::uint64_t seed = 1;  // order and source ports
};

// Fresh 5-tuple for each exchange in the whole schedule, taken from `tuples`, which the conductor
// goes on using for retries. Tokens are the conductor's: they must be random, a schedule must not.
// All probes of the plan appear exactly once.
[[nodiscard]] std::vector<Round> schedule(const compiler::ProbePlan& plan, TupleSource& tuples,
                                          const ScheduleOptions& options);

// A round of its own for some probes again, with controls.
[[nodiscard]] Round repeat(const compiler::ProbePlan& plan, const std::vector<std::size_t>& probes,
                           std::uint32_t number, TupleSource& tuples);

}  // namespace bulkhead::probes
