// A small site for tests of plan, schedule and conductor: two tenants, a firewall, BMCs without
// agents, an outside world, both families, RoCE one way, an explicit deny inside an allow.
#pragma once

#include <map>
#include <string>

#include "compiler/site.h"

namespace bulkhead {

inline constexpr std::string_view kSmallPolicy = R"(
name = "small"
[tenant.red]
owner = "red"
[tenant.blue]
owner = "blue"
[tenant.ops]
owner = "ops"
[segment.red-fe]
tenant = "red"
vlan = 10
v4 = "10.1.0.0/24"
v6 = "fd01::/64"
gateway = "fw"
inside = "open"
[segment.blue-fe]
tenant = "blue"
vlan = 20
v4 = "10.2.0.0/24"
v6 = "fd02::/64"
gateway = "fw"
inside = "open"
[segment.bmc]
tenant = "ops"
vlan = 9
v4 = "10.9.0.0/24"
gateway = "fw"
inside = "isolated"
isolated_by = "mgmt-sw"
[external.world]
v4 = "rest"
[service.ssh]
tcp = [22]
[service.web]
tcp = ["8000-8010"]
[service.admin]
tcp = [8005]
[service.dns]
udp = [53]
[service.rdma]
roce = true
[service.ping]
icmp = ["echo"]
[service.control]
sctp = [5000]
[[flow]]
id = "F1"
from = "red-fe"
to = "blue-fe"
services = ["web", "dns", "rdma", "ping", "control"]
why = "red reads blue"
[[flow]]
id = "F2"
from = "red-fe"
to = "blue-fe"
services = ["admin"]
action = "deny"
why = "but not its admin port"
[[flow]]
id = "F3"
from = "red-fe"
to = "bmc"
services = ["ssh"]
why = "for the test"
)";

inline constexpr std::string_view kSmallInventory = R"(
[enforcer.fw]
kind = "router"
manage = "bulkhead"
[enforcer.fw.legs]
red = { segment = "red-fe", v4 = "10.1.0.1/24", v6 = "fd01::1/64" }
blue = { segment = "blue-fe", v4 = "10.2.0.1/24", v6 = "fd02::1/64" }
oob = { segment = "bmc", v4 = "10.9.0.1/24" }
wan = { external = "world", v4 = "203.0.113.2/29" }
[enforcer.mgmt-sw]
kind = "switch"
manage = "declared"
separates = ["port"]
[host."r[1-2]"]
nic.e0 = { segment = "red-fe", v4 = "10.1.0.[11-12]", v6 = "fd01::[11-12]" }
[host."b[1-2]"]
nic.e0 = { segment = "blue-fe", v4 = "10.2.0.[11-12]", v6 = "fd02::[11-12]" }
[host."bmc[1-2]"]
agentless = true
nic.p = { segment = "bmc", v4 = "10.9.0.[11-12]" }
)";

inline compiler::Site site_of(std::string policy, std::string inventory) {
  using namespace std::chrono;
  const policy::FileReader read = [=](const std::string& path) -> Result<std::string> {
    if (path == "policy.toml")
      return policy;
    if (path == "inventory.toml")
      return inventory;
    return fail(ErrorKind::Environment, "no such file");
  };
  return compiler::load_site(read, year{2026} / 12 / 1);
}

inline const compiler::Site& small_site() {
  static const compiler::Site site =
      site_of(std::string(kSmallPolicy), std::string(kSmallInventory));
  return site;
}

}  // namespace bulkhead
