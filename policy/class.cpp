#include "policy/class.h"

#include <algorithm>

namespace bulkhead::policy {
namespace {

constexpr Carriers bit(Carrier carrier) {
  return static_cast<Carriers>(carrier);
}
constexpr Carriers kIp = bit(Carrier::V4) | bit(Carrier::V6);

}  // namespace

Carriers carriers(const Class& cls) {
  if (cls.kind == ClassKind::Partition)
    return bit(Carrier::Ib);
  Carriers out = 0;
  // Sorted, V4 before V6: the ends tell which families are there.
  if (!cls.addresses.empty()) {
    const auto& intervals = cls.addresses.intervals();
    if (intervals.front().first.family == Family::V4)
      out |= bit(Carrier::V4);
    if (intervals.back().last.family == Family::V6)
      out |= bit(Carrier::V6);
  }
  return out;
}

Carriers carriers(const TrafficKey& key, std::uint16_t port) {
  switch (key.kind) {
    case Kind::Ib:
      return bit(Carrier::Ib);
    case Kind::GpuDirect:
      return kIp | bit(Carrier::Ib);
    case Kind::Icmp: {
      if (port >= std::size(kIcmpQueries))
        return 0;
      const IcmpQuery& query = kIcmpQueries[port];
      return static_cast<Carriers>((query.v4_type ? bit(Carrier::V4) : 0) |
                                   (query.v6_type ? bit(Carrier::V6) : 0));
    }
    case Kind::Ip:
      if (key.group)
        return key.group->family == Family::V4 ? bit(Carrier::V4) : bit(Carrier::V6);
      return kIp;
    case Kind::Tcp:
    case Kind::Udp:
    case Kind::Sctp:
    case Kind::Dhcp:
    case Kind::Roce:
      return kIp;
  }
  return 0;
}

std::optional<ClassId> Universe::id_of(std::string_view name) const {
  const auto at =
      std::lower_bound(classes.begin(), classes.end(), name,
                       [](const Class& cls, std::string_view wanted) { return cls.name < wanted; });
  if (at == classes.end() || at->name != name)
    return std::nullopt;
  return static_cast<ClassId>(at - classes.begin());
}

bool is_pair(const Universe& universe, ClassId from, ClassId to) {
  if (from != to)
    return true;
  const Class& self = universe.classes[from];
  return self.kind == ClassKind::Enforcer ? self.has_peers : self.kind != ClassKind::External;
}

const Class* Universe::find(std::string_view name) const {
  const auto id = id_of(name);
  return id ? &classes[*id] : nullptr;
}

}  // namespace bulkhead::policy
