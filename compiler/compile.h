// Site -> artifacts, in memory. Pure and deterministic: same site and date, same bytes. Writing is
// cli's, loading is enforcement's.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "compiler/manifest.h"
#include "compiler/probe_book.h"
#include "compiler/site.h"

namespace bulkhead::compiler {

inline constexpr std::string_view kSiteFolder = "site";  // of the site's own files, copied

struct Artifact {
  std::string path;  // relative to the output folder: "fw/nftables.nft"
  std::string text;
};

struct Artifacts {
  std::vector<Artifact> files;  // sorted by path; manifest.json last
  ProbeBook probes;
  Manifest manifest;
};

// Precondition: site.ok().
[[nodiscard]] Artifacts compile(const Site& site, const PlanOptions& options);

// Says in manifest.json what was proven of the rulesets.
void set_proof(Artifacts& artifacts, Manifest::Proof proof);

// Of one of site.coverage.views.
[[nodiscard]] const std::string& ruleset_text(const Artifacts& artifacts,
                                              const std::string& enforcer);

}  // namespace bulkhead::compiler
