// The parts of derive_coverage, one file each.
#pragma once

#include "compiler/coverage.h"
#include "compiler/topology.h"

namespace bulkhead::compiler {

struct CoverageFacts {
  const policy::Policy& policy;
  const Inventory& inventory;
  const policy::Matrix& matrix;
  const Topology& topology;
};

// Who may be told apart by source: fills CellCoverage::not_separated_from
// (coverage_separation.cpp).
void find_unseparated(const CoverageFacts& facts, Coverage& coverage);

// What the policy relies on and the network does not give (coverage_findings.cpp).
void report_coverage(const CoverageFacts& facts, const Coverage& coverage,
                     Diagnostics& diagnostics);
// Facts under which state or addresses cannot work: asymmetric paths, overlapping VRFs that a flow
// leaves (coverage_paths.cpp).
void report_paths(const CoverageFacts& facts, const Coverage& coverage, Diagnostics& diagnostics);

}  // namespace bulkhead::compiler
