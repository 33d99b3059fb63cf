#include "probes/case_book.h"

#include <algorithm>
#include <array>

#include "compiler/placement.h"
#include "compiler/probe_forgeries.h"
#include "compiler/rule_comment.h"
#include "policy/support/text.h"
#include "probes/identity.h"
#include "probes/transports/transport.h"

namespace bulkhead::probes {
namespace {

using compiler::CellCoverage;
using compiler::Enforcer;
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
  if (probe.expect != compiler::Expect::Deny)
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

std::vector<Mac> declared_macs(const Site& site, const std::string& name) {
  std::vector<Mac> macs;
  const auto host = site.inventory.hosts.find(name);
  if (host == site.inventory.hosts.end())
    return macs;
  for (const compiler::Nic& nic : host->second.nics) {
    if (nic.mac)
      macs.push_back(*nic.mac);
  }
  return macs;
}

bool silence_accepted(const Site& site, const CellCoverage& coverage) {
  const Enforcer* control = enforcer_named(site, coverage.control);
  if (!control || !control->accept_silence)
    return false;
  const auto& expires = control->accept_silence->expires;
  return !expires || *expires >= site.matrix.as_of;
}

// Four bytes alone could be any stranger's sequence number.
bool is_of(const Evidence& evidence, const TryRecord& attempt) {
  const std::string token = to_hex(attempt.token);
  if (evidence.token.size() == token.size())
    return evidence.token == token;
  const Tuple& sent = attempt.sent;
  const Tuple& seen = evidence.tuple;
  return seen.from == sent.from || seen.to == sent.to ||
         (seen.sport == sent.sport && seen.port == sent.port);
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
  // A forged source is of another leg, and so is told apart; a frame has no rule to tell them.
  if (probe.rule != compiler::kRuleSpoofed && !out.bridged())
    out.not_separated_from = coverage.not_separated_from;
  out.silence_external = probe.cause == compiler::Cause::External;
  out.silence_accepted = out.silence_external && silence_accepted(site, coverage);
  if (out.silence_external)
    out.target_macs = declared_macs(site, probe.to.host);
  const Class& from = site.matrix.universe.classes[probe.from.cls];
  // Nor is there a router before the routing table of an enforcer that sends itself.
  out.no_gateway = from.kind == ClassKind::Enforcer;
  if (const policy::Segment* segment = segment_of(site, from)) {
    out.no_gateway = !segment->gateway && !segment->behind;
    out.gateway_addresses = gateway_addresses(site, *segment);
  }
  return out;
}

CaseBook::CaseBook(const Site& site, const compiler::ProbePlan& plan) : bystanders_(site) {
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
  if (cases_[probe].probe.expect == compiler::Expect::Deny)
    by_head_[initial_sequence(what.token)] = {probe, what.attempt};
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

CaseBook::Place CaseBook::find_astray(Evidence& evidence) {
  const std::string head_text = evidence.token.substr(0, 2 * sizeof(std::uint32_t));
  std::array<std::uint8_t, sizeof(std::uint32_t)> bytes{};
  if (!bytes_from_hex(head_text, bytes))
    return {};
  Token head{};
  std::copy(bytes.begin(), bytes.end(), head.begin());
  const auto found = by_head_.find(initial_sequence(head));
  if (found == by_head_.end())
    return {};
  ProbeCase& probe_case = cases_[found->second.probe];
  TryRecord& record = probe_case.tries[found->second.attempt - 1];
  if (!is_of(evidence, record) ||
      !bystanders_.leaks(probe_case.probe, evidence.agent, evidence.interface))
    return {};
  evidence.probe = probe_case.probe.id;
  evidence.attempt = record.attempt;
  evidence.round = record.round;
  evidence.detail = bystanders_.place_of(evidence.agent, evidence.interface);
  return {found->second.probe, &record};
}

}  // namespace bulkhead::probes
