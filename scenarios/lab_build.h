// Executes a LabPlan in namespaces that exist: links, addresses, routes and kernel settings.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scenarios/lab_plan.h"

namespace bulkhead::scenarios {

// `netns` are the names under /run/netns of plan.nodes, in the same order. Fails with the error of
// `may_go_on`, asked before each of them. What was made when this fails is the caller's to remove,
// with the namespaces.
[[nodiscard]] Status build_lab(const LabPlan& plan, const std::vector<std::string>& netns,
                               const std::string& fabric_netns,
                               const std::function<Status()>& may_go_on);

// The texts given to `ip -batch`: of the fabric (bridges, and a link to every node), and of a node.
[[nodiscard]] std::string fabric_batch(const LabPlan& plan, const std::vector<std::string>& netns);
[[nodiscard]] std::string node_batch(const PlannedNetns& node);
// Source rules of one family: iproute2 6.1 takes the family of a rule from its command line alone.
[[nodiscard]] std::string rule_batch(const PlannedNetns& node, Family family);

}  // namespace bulkhead::scenarios
