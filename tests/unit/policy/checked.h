// A policy from memory, parsed and validated against a universe that the test names class by class.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "policy/class.h"
#include "policy/parse.h"
#include "policy/validate.h"

namespace bulkhead::policy {

struct Checked {
  SourceMap sources;
  Diagnostics diagnostics;
  // Notes about what nothing uses: the policies of tests are full of it, so they stand apart.
  std::vector<Diagnostic> unused;
  Policy policy;
  Universe universe;

  [[nodiscard]] std::vector<std::string> codes() const;   // sorted
  [[nodiscard]] std::vector<std::string> places() const;  // "policy.toml:3:7 code", in file order
  [[nodiscard]] std::string rendered() const;
};

// `classes`: "SEGMENT", "SEGMENT.l1+l2", "PARTITION.l1"; a segment's classes share its prefixes out
// among themselves only in so far as each has them all. Externals and the enforcer fw come by
// themselves.
[[nodiscard]] Checked check(std::map<std::string, std::string> files,
                            const std::vector<std::string>& classes,
                            Date as_of = *parse_date("2026-12-01"));

// Two tenants, a shared storage, a partition each, services: what one-line cases add to.
extern const char* const kBasePolicy;
extern const std::vector<std::string> kBaseClasses;
[[nodiscard]] Checked check_base(const std::string& added);

}  // namespace bulkhead::policy
