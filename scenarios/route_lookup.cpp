#include "scenarios/route_lookup.h"

#include <algorithm>
#include <map>
#include <memory>

namespace bulkhead::scenarios {

namespace {

// The leg by which packets of a class come in; empty: none is bound, or the enforcer sends itself.
std::string incoming_leg(const compiler::Site& site, const std::string& enforcer,
                         policy::ClassId from) {
  for (const auto& view : site.coverage.views) {
    if (view.enforcer != enforcer)
      continue;
    for (const auto& binding : view.bindings)
      if (binding.cls == from)
        return binding.interface;
  }
  return {};
}

bool says_no_route(const enforcement::Finished& asked) {
  // iproute2 6.1 exits with 2; ENETUNREACH: no entry, EHOSTUNREACH: an "unreachable" route.
  return asked.status == 2 && (asked.err.find("Network is unreachable") != std::string::npos ||
                               asked.err.find("No route to host") != std::string::npos);
}

}  // namespace

std::function<bool(const compiler::Probe&)> route_lookup(const compiler::Site& site,
                                                         RunOnMember run) {
  const auto known = std::make_shared<std::map<std::vector<std::string>, bool>>();
  return [&site, run = std::move(run), known](const compiler::Probe& probe) {
    const auto& cell = site.coverage.at(probe.from.cls, probe.to.cls);
    const auto enforcer = site.inventory.enforcers.find(cell.control);
    if (enforcer == site.inventory.enforcers.end() ||
        enforcer->second.manage != compiler::Manage::Bulkhead || enforcer->second.members.empty())
      return false;
    const std::string& member = enforcer->second.members.front();
    std::vector<std::string> command = {
        "ip", "route", "get", probe.to.address.str(), "from", probe.from.address.str()};
    if (const auto leg = incoming_leg(site, cell.control, probe.from.cls); !leg.empty())
      command.insert(command.end(), {"iif", leg});
    std::vector<std::string> key = command;
    key.push_back(member);
    const auto [answer, is_new] = known->try_emplace(std::move(key), false);
    if (is_new) {
      const auto asked = run(member, command);
      answer->second = asked && says_no_route(*asked);
    }
    return answer->second;
  };
}

}  // namespace bulkhead::scenarios
