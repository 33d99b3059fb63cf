// What shall be loaded on a member, and what it is judged by.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/proof/member_proof.h"
#include "compiler/proof/ruleset.h"
#include "enforcement/backend.h"
#include "enforcement/bundle.h"
#include "enforcement/journal.h"

namespace bulkhead::enforcement {

struct Target {
  std::string enforcer, member;
  std::string change;  // in nft's language: replaces table inet bulkhead
  std::string bundle;  // digest of the manifest, or "generation 7"
  std::string policy, as_of;
  std::map<std::string, std::string> site_files;
  std::shared_ptr<const compiler::Site> site;  // none: of a state that no policy speaks of
  const compiler::EnforcerView* view = nullptr;
};

// Usage errors: a bundle that is not whole, a host that is not in it.
[[nodiscard]] Result<Target> target_of_bundle(const std::filesystem::path& bundle,
                                              const std::string& host);
// What a generation loaded.
[[nodiscard]] Result<Target> target_of(const Journal& journal, const Generation& generation);

// The listing in types, with what nft's listing leaves out marked.
[[nodiscard]] Result<compiler::proof::Ruleset> rules_of(const Snapshot& snapshot);
// What would be there with the target loaded.
[[nodiscard]] Result<compiler::proof::Ruleset> rules_with(const Snapshot& snapshot,
                                                          const std::string& change);

// Is what is loaded what the policy says, for all packets, and our table what was meant? Without a
// policy there is nothing to say: equal.
[[nodiscard]] compiler::proof::MemberProof prove(const Target& target, const Snapshot& snapshot);

}  // namespace bulkhead::enforcement
