#include "enforcement/nft_target.h"

#include <fmt/format.h>

#include "compiler/proof/replaced.h"
#include "compiler/proof/rule_loads.h"
#include "compiler/proof/ruleset_json.h"
#include "enforcement/backends/nft_backend.h"
#include "enforcement/backends/nft_sandbox.h"

namespace bulkhead::enforcement {

namespace {
namespace proof = compiler::proof;
}

Result<Target> target_of_bundle(const std::filesystem::path& folder, const std::string& host) {
  auto bundle = open_bundle(folder);
  if (!bundle)
    return fail(bundle.error());
  const auto member = find_member(*bundle->site, host);
  if (!member)
    return fail(member.error());
  auto text = ruleset_of(*bundle, *member);
  if (!text)
    return fail(text.error());
  Target out;
  out.enforcer = member->view->enforcer;
  out.member = host;
  out.change = std::move(*text);
  out.bundle = bundle->digest;
  out.policy = bundle->manifest.policy;
  out.as_of = bundle->manifest.as_of;
  out.site_files = std::move(bundle->site_files);
  out.site = std::move(bundle->site);
  out.view = member->view;
  return out;
}

Result<Target> target_of(const Journal& journal, const Generation& generation) {
  Target out;
  out.enforcer = generation.enforcer;
  out.member = generation.member;
  out.bundle = fmt::format("generation {}", generation.number);
  out.policy = generation.policy;
  out.as_of = generation.as_of;
  auto text = journal.after(generation.number);
  if (!text)
    return fail(text.error());
  out.change = std::move(*text);
  if (generation.policy.empty())
    return out;
  auto files = journal.site(generation.number);
  if (!files)
    return fail(files.error());
  out.site_files = std::move(*files);
  auto site = site_of(out.site_files, out.as_of);
  if (!site)
    return fail(site.error().context(out.bundle));
  const auto member = find_member(**site, out.member);
  if (!member)
    return fail(member.error());
  out.site = std::move(*site);
  out.view = member->view;
  return out;
}

Result<proof::Ruleset> rules_of(const Snapshot& snapshot) {
  auto rules = proof::parse_ruleset(snapshot.listing.json);
  if (!rules)
    return fail(rules.error());
  proof::mark_unfaithful(*rules, snapshot.listing.loads);
  return rules;
}

Result<proof::Ruleset> rules_with(const Snapshot& snapshot, const std::string& change) {
  auto live = rules_of(snapshot);
  if (!live)
    return fail(live.error());
  proof::Ruleset fresh;
  if (change != no_table()) {
    auto read = proof::parse_written_ruleset(change);
    if (!read)  // somebody else's, that a rollback goes back to
      read = list_in_sandbox(change, {}).and_then([](const NftListing& listing) {
        return proof::parse_ruleset(listing.json);
      });
    if (!read)
      return fail(read.error());
    fresh = std::move(*read);
  }
  return proof::replaced(std::move(*live), proof::TableFamily::Inet, "bulkhead", fresh);
}

proof::MemberProof prove(const Target& target, const Snapshot& snapshot) {
  if (!target.site) {
    proof::MemberProof nothing;
    nothing.state = proof::MemberProof::State::Equal;
    nothing.reason = "no policy speaks of this state";
    return nothing;
  }
  return proof::prove_member(*target.site, *target.view, target.member, target.change,
                             rules_of(snapshot));
}

}  // namespace bulkhead::enforcement
