#include "probes/agent/facts.h"

#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "policy/support/handle.h"
#include "probes/trace.h"

namespace bulkhead::probes {
namespace {

// /proc/sys/net shows the reader's own network namespace. Absent (no IPv6): off.
bool sysctl_on(const std::string& path) {
  std::ifstream file(path);
  int value = 0;
  return file >> value && value != 0;
}

Mac mac_of(const char* interface) {
  Mac mac{};
  ifreq request{};
  std::strncpy(request.ifr_name, interface, IFNAMSIZ - 1);
  const UniqueFd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (fd && ::ioctl(fd.get(), SIOCGIFHWADDR, &request) == 0 &&
      request.ifr_hwaddr.sa_family == ARPHRD_ETHER)
    std::memcpy(mac.data(), request.ifr_hwaddr.sa_data, mac.size());
  return mac;
}

// IPv4 asks the interface that a packet came in by; `all` only sets every interface when it is
// written. IPv6 asks `all`, and since Linux 6.17 each interface's force_forwarding beside it.
bool forwards_between(const std::vector<std::string>& interfaces, Family family) {
  const std::string conf =
      family == Family::V4 ? "/proc/sys/net/ipv4/conf/" : "/proc/sys/net/ipv6/conf/";
  const char* own = family == Family::V4 ? "/forwarding" : "/force_forwarding";
  return sysctl_on(conf + "all/forwarding") ||
         std::any_of(interfaces.begin(), interfaces.end(), [&](const std::string& interface) {
           return interface != "lo" && sysctl_on(conf + interface + own);
         });
}

}  // namespace

Facts read_facts() {
  Facts facts;
  utsname name{};
  if (::uname(&name) == 0)
    facts.kernel = name.release;
  using Names = Handle<struct if_nameindex, ::if_freenameindex>;
  const Names names(::if_nameindex());
  for (const auto* entry = names.get(); entry != nullptr && entry->if_index != 0; ++entry) {
    facts.interfaces.emplace_back(entry->if_name);
    facts.macs.push_back(mac_of(entry->if_name));
  }
  facts.forwards_v4 = forwards_between(facts.interfaces, Family::V4);
  facts.forwards_v6 = forwards_between(facts.interfaces, Family::V6);
  facts.can_trace = can_trace();
  return facts;
}

}  // namespace bulkhead::probes
