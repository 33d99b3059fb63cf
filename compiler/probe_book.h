// The probe plan as it is made, kept and written. A pair of ends is asked a few of few lists of
// shots: two pairs of classes of which the policy says the same are asked the same, so what would
// be millions of probes in a pod stays some megabytes. probe_plan.h has each probe by itself.
// Written as probes.json, schema bulkhead.probe/2.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/probe_plan.h"
#include "compiler/probe_traffic.h"
#include "policy/support/result.h"

namespace bulkhead::compiler {

struct ProbedPair {
  EndId from = 0, to = 0;            // into ProbeBook::ends
  std::vector<std::uint32_t> shots;  // into ProbeBook::shots
  Cause cause = Cause::None;         // of what is denied
  std::string enforcer;              // managed enforcer that decides; empty: none on the path
  Detour detour{};                   // not over the path at all, but through a host
};

struct ProbeBook {
  std::vector<ProbeEnd> ends;
  std::vector<std::vector<Shot>> shots;  // each list once
  std::vector<ProbedPair> pairs;         // by classes, from then to; detours last
  std::vector<Unprobed> unprobed;
};

[[nodiscard]] ProbeBook make_probe_book(const Site& site, const PlanOptions& options);
// Every probe by itself, sorted and numbered.
[[nodiscard]] ProbePlan probes_of(const ProbeBook& book);

// {"schema":"bulkhead.probe/2","site":..,"ends":[..],"shots":[[..]],"pairs":[..],"unprobed":[..]};
// pairs name ends and lists of shots by their place. Fields that say nothing are left out: a
// payload "token", an sport or size of 0.
[[nodiscard]] std::string to_json(const ProbeBook& book, const Site& site);
// Strict. Classes are known by name, so a book is only good for the site that it was made for.
[[nodiscard]] Result<ProbeBook> book_from_json(std::string_view text, const Site& site);

}  // namespace bulkhead::compiler
