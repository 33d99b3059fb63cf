#include "enforcement/drift.h"

#include <fmt/format.h>

namespace bulkhead::enforcement {

namespace {

using compiler::proof::MemberProof;

std::vector<std::string> expired_flows(const compiler::Site& site, policy::Date today) {
  std::vector<std::string> out;
  for (const policy::Flow& flow : site.policy.flows)
    if (flow.expires && *flow.expires >= site.matrix.as_of && *flow.expires < today &&
        flow.action == policy::Action::Allow)
      out.push_back(fmt::format("flow {} ({}) expired on {}, still open: compile and apply again",
                                flow.id, site.sources.place(flow.at),
                                policy::format_date(*flow.expires)));
  return out;
}

}  // namespace

Result<Drift> drift(Backend& backend, const Target& target, policy::Date today) {
  const auto live = backend.read();
  if (!live)
    return fail(live.error());
  Drift out;
  const MemberProof proof = prove(target, *live);
  if (proof.state == MemberProof::State::NotDecided)
    out.not_decided = proof.reason;
  if (proof.state == MemberProof::State::Different)
    out.rules = proof.differences;
  if (proof.state == MemberProof::State::Different && out.rules.empty())
    out.rules.push_back(proof.reason);
  if (live->ours == kNothing)
    out.rules.insert(out.rules.begin(),
                     "table inet bulkhead is gone: somebody flushed or deleted it");
  out.environment = environment(*target.site, *target.view);
  out.expired = expired_flows(*target.site, today);
  return out;
}

}  // namespace bulkhead::enforcement
