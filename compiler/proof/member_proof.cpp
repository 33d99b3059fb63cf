#include "compiler/proof/member_proof.h"

#include <fmt/format.h>

namespace bulkhead::compiler::proof {

namespace {

constexpr std::size_t kDifferences = 3;  // of a finding; `bulkhead prove` tells more

std::vector<std::string> sentences(const EnforcerProof& proven) {
  std::vector<std::string> out;
  for (const EnforcerProof::Part& part : proven.parts)
    for (const Finding& finding : part.differences.findings)
      for (const Difference& one : finding.differences)
        out.push_back(fmt::format("{} {}: {} → {}: {}; for example {}{}", to_string(finding.effect),
                                  to_string(finding.passage), one.box.from, one.box.to,
                                  one.box.traffic, to_string(one.example),
                                  one.rules.empty() ? "" : "; by " + one.rules.back()));
  for (const std::string& doubt : proven.doubts)
    out.push_back(doubt);
  return out;
}

}  // namespace

std::string_view to_string(MemberProof::State state) {
  switch (state) {
    case MemberProof::State::Equal:
      return "equal";
    case MemberProof::State::Different:
      return "different";
    case MemberProof::State::NotDecided:
      return "not decided";
  }
  return "";
}

MemberProof prove_member(const Site& site, const EnforcerView& view, std::string member,
                         const std::string& written, const Result<Ruleset>& listed) {
  MemberProof out;
  out.enforcer = view.enforcer;
  out.member = std::move(member);
  if (!listed) {
    out.reason = listed.error().message;
    return out;
  }
  ProofLimits limits;
  limits.differences = kDifferences;
  const auto trip = round_trip(site, view, written, *listed, limits);
  if (!trip) {
    out.reason = trip.error().message;
    return out;
  }
  out.differences = sentences(trip->proof);
  if (trip->holds()) {
    out.state = MemberProof::State::Equal;
    out.reason = "equal for all packets";
    if (trip->table == RoundTrip::Table::NotLoaded)
      out.reason += ", by other rules than those that were compiled";
  } else if (trip->is_open_question()) {
    out.reason =
        trip->proof.not_proven.empty() ? "rules outside the model decide" : trip->proof.not_proven;
  } else {
    out.state = MemberProof::State::Different;
    out.reason = trip->proof.holds()
                     ? "table inet bulkhead is not what was compiled, though no packet is the worse"
                     : "the loaded rules are not what the policy says";
  }
  return out;
}

}  // namespace bulkhead::compiler::proof
