// What a policy says and nothing asks for: left over from a change, or a name that was meant to be
// used. Notes: nothing is wrong with what is in force.
#include <map>
#include <set>

#include <fmt/format.h>

#include "policy/support/text.h"
#include "policy/validate_parts.h"

namespace bulkhead::policy {

namespace {

void note(const char* code, std::string_view kind, const std::string& name, SourcePos at,
          std::string_view by, Diagnostics& diagnostics) {
  diagnostics.note(code, at, fmt::format("{} {} is not used: {}", kind, in_backticks(name), by));
}

void note_services(const FlowCheck& check) {
  std::set<std::string_view> named;
  const auto add = [&](const auto& items) {
    for (const auto& item : items)
      for (const Name& service : item.services)
        named.insert(service.text);
  };
  add(check.policy.flows);
  add(check.policy.offers);
  add(check.policy.nevers);
  for (const auto& [name, service] : check.policy.services)
    if (!named.contains(name))
      note("unused-service", "service", name, service.at, "no flow, offer or never names it",
           check.diagnostics);
}

void note_tenants(const FlowCheck& check) {
  std::set<std::string_view> owning;
  for (const auto& [name, segment] : check.policy.segments)
    owning.insert(segment.tenant.text);
  for (const auto& [name, partition] : check.policy.partitions)
    owning.insert(partition.tenant.text);
  for (const auto& [name, tenant] : check.policy.tenants)
    if (!owning.contains(name))
      note("unused-tenant", "tenant", name, tenant.at, "no segment or partition is its",
           check.diagnostics);
}

// The same ends, and nothing that the earlier one does not allow or deny by itself.
void note_repeated(const FlowCheck& check) {
  using Ends = std::tuple<Action, std::vector<ClassId>, std::vector<ClassId>>;
  std::map<Ends, std::vector<const LiveFlow*>> earlier;
  for (const LiveFlow& live : check.flows) {
    if (live.from.empty() || live.to.empty() || live.traffic.empty())
      continue;
    auto& here = earlier[{live.flow->action, live.from, live.to}];
    for (const LiveFlow* other : here)
      if ((other->flow->both_ways || !live.flow->both_ways) &&
          without(live.traffic, other->traffic).empty()) {
        auto& told = check.diagnostics.note(
            "repeated-flow", live.flow->at,
            fmt::format("flow {} says again what flow {} says", in_backticks(live.flow->id),
                        in_backticks(other->flow->id)));
        told.related.push_back({other->flow->at, "the other is here"});
        break;
      }
    here.push_back(&live);
  }
}

}  // namespace

void check_unused(const FlowCheck& check) {
  if (check.diagnostics.has_errors())
    return;  // a name that could not be read may have been the use
  note_services(check);
  note_tenants(check);
  note_repeated(check);
}

}  // namespace bulkhead::policy
