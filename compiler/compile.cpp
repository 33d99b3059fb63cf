#include "compiler/compile.h"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>

#include "compiler/ir.h"
#include "compiler/site_files.h"
#include "compiler/targets/nftables.h"
#include "policy/date.h"
#include "policy/support/sha256.h"

namespace bulkhead::compiler {

namespace {

std::string ruleset_path(const std::string& enforcer) {
  return enforcer + "/nftables.nft";
}

}  // namespace

Artifacts compile(const Site& site, const PlanOptions& options) {
  Artifacts out;
  Manifest& manifest = out.manifest;
  manifest.site = site.policy.name;
  manifest.policy = site.policy_digest;
  manifest.as_of = policy::format_date(site.matrix.as_of);

  for (const EnforcerView& view : site.coverage.views) {
    NftablesText ruleset = nftables(ir::make_enforcer(site, view));
    const std::string path = ruleset_path(view.enforcer);
    manifest.enforcers[view.enforcer] = {path, sha256_hex(ruleset.text), ruleset.elements};
    manifest.hashed_rules.merge(std::move(ruleset.hashed_rules));
    out.files.push_back({path, std::move(ruleset.text)});
  }

  out.probes = make_probe_book(site, options);
  Artifact probes{"probes.json", to_json(out.probes, site)};
  manifest.probes = {probes.path, sha256_hex(probes.text), 0};
  out.files.push_back(std::move(probes));

  for (auto& [path, text] : files_of(site)) {
    const std::string copy =
        (std::filesystem::path(kSiteFolder) / path).lexically_normal().string();
    manifest.site_files[copy] = sha256_hex(text);
    out.files.push_back({copy, text});
  }

  std::sort(out.files.begin(), out.files.end(),
            [](const Artifact& a, const Artifact& b) { return a.path < b.path; });
  out.files.push_back({"manifest.json", to_json(manifest)});
  return out;
}

void set_proof(Artifacts& artifacts, Manifest::Proof proof) {
  artifacts.manifest.proof = std::move(proof);
  artifacts.files.back().text = to_json(artifacts.manifest);
}

const std::string& ruleset_text(const Artifacts& artifacts, const std::string& enforcer) {
  const auto found =
      std::find_if(artifacts.files.begin(), artifacts.files.end(),
                   [&](const Artifact& file) { return file.path == ruleset_path(enforcer); });
  assert(found != artifacts.files.end());
  return found->text;
}

}  // namespace bulkhead::compiler
