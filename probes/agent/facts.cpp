#include "probes/agent/facts.h"

#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/utsname.h>

#include <cstring>
#include <fstream>

#include "policy/support/handle.h"
#include "probes/trace.h"

namespace bulkhead::probes {
namespace {

// /proc/sys/net shows the reader's own network namespace. Absent (no IPv6): off.
bool sysctl_on(const char* path) {
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

}  // namespace

Facts read_facts() {
  Facts facts;
  utsname name{};
  if (::uname(&name) == 0)
    facts.kernel = name.release;
  facts.forwards_v4 = sysctl_on("/proc/sys/net/ipv4/ip_forward");
  facts.forwards_v6 = sysctl_on("/proc/sys/net/ipv6/conf/all/forwarding");
  using Names = Handle<struct if_nameindex, ::if_freenameindex>;
  const Names names(::if_nameindex());
  for (const auto* entry = names.get(); entry != nullptr && entry->if_index != 0; ++entry) {
    facts.interfaces.emplace_back(entry->if_name);
    facts.macs.push_back(mac_of(entry->if_name));
  }
  facts.can_trace = can_trace();
  return facts;
}

}  // namespace bulkhead::probes
