#include "probes/case_book.h"

#include "compiler/probe_forgeries.h"

#include "compiler/placement.h"
#include "compiler/rule_comment.h"
#include "policy/support/text.h"

namespace bulkhead::probes {
namespace {

using compiler::CellCoverage;
using compiler::Enforcer;
using compiler::Expect;
using compiler::Probe;
using compiler::Site;
using policy::Class;
using policy::ClassKind;

const policy::Segment* segment_of(const Site& site, const Class& cls) {
  if (cls.kind != ClassKind::Endpoint && cls.kind != ClassKind::Behind &&
      cls.kind != ClassKind::Spare)
    return nullptr;
  const auto found = site.policy.segments.find(cls.place);
  return found == site.policy.segments.end() ? nullptr : &found->second;
}

const Enforcer* enforcer_named(const Site& site, const std::string& name) {
  const auto found = site.inventory.enforcers.find(name);
  return found == site.inventory.enforcers.end() ? nullptr : &found->second;
}

// By what comment a trace shows the rule that should drop this.
std::vector<std::string> planned_rules(const Site& site, const Probe& probe) {
  if (probe.expect != Expect::Deny)
    return {};
  if (probe.rule == compiler::kRuleSpoofed)
    return {probe.rule};
  if (probe.rule != policy::kRuleDefault) {
    // An explicit deny is an element of a verdict map, and a trace names the map's rule, "pair";
    // rules that stand alone carry the ids.
    return {"pair", compiler::rule_comment(split(probe.rule, ','))};
  }
  // A spare host is bound to nothing, so its packets fall to the anti-spoofing rule.
  if (site.matrix.universe.classes[probe.from.cls].kind == ClassKind::Spare)
    return {std::string(policy::kRuleDefault), "spoofed"};
  return {std::string(policy::kRuleDefault)};
}

std::vector<Address> gateway_addresses(const Site& site, const policy::Segment& segment) {
  std::vector<Address> addresses;
  if (!segment.gateway)
    return addresses;
  for (const Prefix& prefix : segment.prefixes)
    addresses.push_back(compiler::gateway_address(segment, prefix, site.inventory));
  return addresses;
}

bool silence_accepted(const Site& site, const CellCoverage& coverage) {
  const Enforcer* control = enforcer_named(site, coverage.control);
  if (!control || !control->accept_silence)
    return false;
  const auto& expires = control->accept_silence->expires;
  return !expires || *expires >= site.matrix.as_of;
}

}  // namespace

ProbeCase make_case(const Site& site, const Probe& probe) {
  ProbeCase out;
  out.probe = probe;
  out.planned_rules = planned_rules(site, probe);
  const CellCoverage& coverage = site.coverage.at(probe.from.cls, probe.to.cls);
  for (const std::string& name : coverage.path) {
    if (const Enforcer* enforcer = enforcer_named(site, name))
      out.enforcers.insert(out.enforcers.end(), enforcer->members.begin(), enforcer->members.end());
  }
  // A forged source is of another leg, and so is told apart.
  if (probe.rule != compiler::kRuleSpoofed)
    out.not_separated_from = coverage.not_separated_from;
  out.silence_external = probe.cause == compiler::Cause::External;
  out.silence_accepted = out.silence_external && silence_accepted(site, coverage);
  const Class& from = site.matrix.universe.classes[probe.from.cls];
  // Nor is there a router before the routing table of an enforcer that sends itself.
  out.no_gateway = from.kind == ClassKind::Enforcer;
  if (const policy::Segment* segment = segment_of(site, from)) {
    out.no_gateway = !segment->gateway && !segment->behind;
    out.gateway_addresses = gateway_addresses(site, *segment);
  }
  return out;
}

CaseBook::CaseBook(const Site& site, const compiler::ProbePlan& plan) {
  cases_.reserve(plan.probes.size());
  for (const Probe& probe : plan.probes) {
    by_id_.emplace(probe.id, cases_.size());
    cases_.push_back(make_case(site, probe));
  }
}

void CaseBook::open_try(std::size_t probe, std::uint32_t round, const Expected& what) {
  TryRecord& attempt = cases_[probe].tries.emplace_back();
  attempt.attempt = what.attempt;
  attempt.round = round;
  attempt.sent = what.tuple;
  attempt.token = what.token;
}

CaseBook::Place CaseBook::find(const std::string& probe_id, std::uint32_t attempt) {
  const auto found = by_id_.find(probe_id);
  if (found == by_id_.end())
    return {};
  for (TryRecord& record : cases_[found->second].tries) {
    if (record.attempt == attempt)
      return {found->second, &record};
  }
  return {};
}

}  // namespace bulkhead::probes
