// What `bulkhead compile` wrote, opened on the member that it is for. Every file is held against
// its digest before a word of it is used, and the matrix is derived anew from the site's own files
// in it: what is loaded is proven here, by what the policy says, not by what the pipeline said.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "compiler/manifest.h"
#include "compiler/site.h"
#include "policy/support/result.h"

namespace bulkhead::enforcement {

struct Bundle {
  std::filesystem::path folder;
  compiler::Manifest manifest;
  std::string digest;  // of manifest.json, which has those of all others: "sha256:..."
  std::map<std::string, std::string> site_files;  // by their paths in the site's folder
  std::unique_ptr<compiler::Site> site;           // as of the manifest's day
};

// A usage error names the file that is missing or is not what the manifest says; so is a bundle
// that was not proven.
[[nodiscard]] Result<Bundle> open_bundle(const std::filesystem::path& folder);

// The same site from its files: what a generation keeps of a bundle.
[[nodiscard]] Result<std::unique_ptr<compiler::Site>> site_of(
    const std::map<std::string, std::string>& files, const std::string& as_of);

// One machine's part of a site.
struct Member {
  std::string host;
  const compiler::EnforcerView* view = nullptr;  // of site.coverage.views
};
// A usage error where no enforcer that bulkhead manages has that member; it names those that are.
[[nodiscard]] Result<Member> find_member(const compiler::Site& site, const std::string& host);

// The ruleset of a member, verified like the others.
[[nodiscard]] Result<std::string> ruleset_of(const Bundle& bundle, const Member& member);

}  // namespace bulkhead::enforcement
