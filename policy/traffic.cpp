#include "policy/traffic.h"

#include <iterator>

namespace bulkhead::policy {

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::Tcp:
      return "tcp";
    case Kind::Udp:
      return "udp";
    case Kind::Sctp:
      return "sctp";
    case Kind::Icmp:
      return "icmp";
    case Kind::Ip:
      return "ip";
    case Kind::Dhcp:
      return "dhcp";
    case Kind::Roce:
      return "roce";
    case Kind::Ib:
      return "ib";
    case Kind::GpuDirect:
      return "gpudirect";
  }
  return "?";
}

std::string to_string(const Traffic& traffic) {
  std::string out(to_string(traffic.key.kind));
  if (traffic.key.kind == Kind::Ip) {
    out += ' ' + std::to_string(traffic.key.protocol);
    if (traffic.key.group)
      out += " to " + traffic.key.group->str();
    return out;
  }
  const bool icmp = traffic.key.kind == Kind::Icmp;
  if (!icmp && !has_ports(traffic.key.kind))
    return out;
  std::string_view separator = " ";
  for (const PortRange& range : traffic.ports) {
    if (icmp) {
      for (std::size_t row = range.first; row <= range.last && row < std::size(kIcmpQueries);
           ++row) {
        out.append(separator).append(kIcmpQueries[row].name);
        separator = ", ";
      }
      continue;
    }
    out.append(separator).append(std::to_string(range.first));
    if (range.last != range.first)
      out += '-' + std::to_string(range.last);
    separator = ", ";
  }
  return out;
}

}  // namespace bulkhead::policy
