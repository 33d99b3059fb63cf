#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/inventory_checks.h"
#include "compiler/placement.h"
#include "policy/support/text.h"

namespace bulkhead::compiler {
namespace {

// Whoever opens these speaks to the fabric's subnet manager, or is one.
bool manages_the_fabric(std::string_view node) {
  return node.starts_with("umad") || node.starts_with("issm");
}

void check_nodes(const InventoryCheck& check, const Host& host) {
  for (const Name& node : host.rdma_nodes) {
    if (manages_the_fabric(node.text))
      check.diagnostics.warning(
          "fabric-management", node.at,
          fmt::format("workloads of host {} are given {}: they can speak to the fabric's subnet "
                      "manager, or be one",
                      host.name, in_backticks(node.text)),
          "give them the uverbs nodes of their own devices only");
  }
}

std::string devices_of(const Host& host) {
  std::set<std::string_view> devices;
  for (const Nic& nic : host.nics)
    if (!nic.rdma.empty())
      devices.insert(nic.rdma);
  return fmt::format("{}", fmt::join(devices, ", "));
}

// In shared mode a network namespace hides no RDMA device: what runs in a pod speaks from the
// host's own, past the pod's policy and every enforcer that knows the pod by its address.
void check_pods(const InventoryCheck& check, const policy::Segment& segment) {
  for (const BehindHost& behind : behind_hosts(segment, check.policy, check.inventory)) {
    const Host& host = *behind.host;
    if (!host.rdma_netns || host.rdma_netns->text != "shared")
      continue;
    const std::string devices = devices_of(host);
    if (!devices.empty())
      check.diagnostics.warning(
          "rdma-shared", host.rdma_netns->at,
          fmt::format("pods of segment {} see the RDMA devices of host {} ({}): nothing isolates "
                      "what they send there",
                      segment.name, host.name, devices),
          "`rdma system set netns exclusive`, and a device of its own for each pod");
  }
}

}  // namespace

void check_rdma(const InventoryCheck& check) {
  for (const auto& [name, host] : check.inventory.hosts)
    check_nodes(check, host);
  for (const auto& [name, segment] : check.policy.segments)
    check_pods(check, segment);
}

}  // namespace bulkhead::compiler
