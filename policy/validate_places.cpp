// Tenants, VRFs, segments, partitions: what they refer to exists, and what must be said is said.
#include <algorithm>

#include <fmt/format.h>

#include "policy/support/text.h"
#include "policy/validate_parts.h"

namespace bulkhead::policy {

namespace {

void unknown(const Name& name, std::string_view kind, const std::vector<std::string_view>& known,
             Diagnostics& diagnostics) {
  diagnostics.error("unknown-name", name.at,
                    fmt::format("there is no {} {}", kind, in_backticks(name.text)),
                    did_you_mean(name.text, known));
}

template <class T>
void must_exist(const Name& name, std::string_view kind, const std::map<std::string, T>& known,
                Diagnostics& diagnostics) {
  // An empty name: the key was missing, which parse has reported.
  if (!name.text.empty() && !known.contains(name.text))
    unknown(name, kind, names_of(known), diagnostics);
}

void check_partition(const Segment& segment, const Policy& policy, Diagnostics& diagnostics) {
  if (!segment.ib_partition)
    return;
  must_exist(*segment.ib_partition, "ib_partition", policy.partitions, diagnostics);
  if (segment.vlan)
    diagnostics.error(
        "vlan-and-partition", segment.ib_partition->at,
        fmt::format("segment {} has both a VLAN and a partition", in_backticks(segment.name)),
        "an IPoIB segment names its partition instead of a VLAN");
  const auto partition = policy.partitions.find(segment.ib_partition->text);
  if (partition != policy.partitions.end() && partition->second.tenant.text != segment.tenant.text)
    diagnostics
        .error("tenant-mismatch", segment.ib_partition->at,
               fmt::format("segment {} is of tenant {}, its partition of tenant {}",
                           in_backticks(segment.name), in_backticks(segment.tenant.text),
                           in_backticks(partition->second.tenant.text)))
        .related.push_back({partition->second.at, "the partition is here"});
}

void check_inside(const Segment& segment, Diagnostics& diagnostics) {
  if (!segment.inside) {
    diagnostics.error("inside-missing", segment.at,
                      fmt::format("segment {} does not say `inside`", in_backticks(segment.name)),
                      "\"open\" if its members reach each other, \"isolated\" with `isolated_by` "
                      "if something keeps them apart");
    return;
  }
  if (segment.inside == Inside::Isolated && !segment.isolated_by)
    diagnostics.error(
        "isolated-by-missing", segment.at,
        fmt::format("segment {} is isolated, but by whom?", in_backticks(segment.name)),
        "name the enforcer on that path: isolated_by = \"...\"");
  if (segment.inside == Inside::Open && segment.isolated_by)
    diagnostics.error(
        "isolated-by-unused", segment.isolated_by->at,
        fmt::format("segment {} is open, so nobody isolates it", in_backticks(segment.name)));
}

template <class Get>
void check_unique_numbers(const Policy& policy, std::string_view key, const Get& get,
                          Diagnostics& diagnostics) {
  std::map<std::uint32_t, const Vrf*> first;
  for (const auto& [name, vrf] : policy.vrfs) {
    const std::uint32_t number = get(vrf);
    if (number == 0)
      continue;
    const auto [found, added] = first.try_emplace(number, &vrf);
    if (!added)
      diagnostics
          .error("duplicate-vrf-number", vrf.at,
                 fmt::format("vrf {} has the {} of vrf {}: {}", in_backticks(name), key,
                             in_backticks(found->second->name), number))
          .related.push_back({found->second->at, "the other is here"});
  }
}

std::vector<Prefix> prefixes_of_vrf(const Policy& policy, std::string_view vrf) {
  std::vector<Prefix> out;
  for (const auto& [name, segment] : policy.segments) {
    if (segment.vrf && segment.vrf->text == vrf)
      out.insert(out.end(), segment.prefixes.begin(), segment.prefixes.end());
  }
  return out;
}

void check_leak(const Vrf& vrf, const VrfLeak& leak, const Policy& policy,
                Diagnostics& diagnostics) {
  must_exist(leak.vrf, "vrf", policy.vrfs, diagnostics);
  const auto target = policy.vrfs.find(leak.vrf.text);
  if (target == policy.vrfs.end())
    return;
  if (target->first == vrf.name) {
    diagnostics.error("leak-to-itself", leak.vrf.at,
                      fmt::format("vrf {} leaks from itself", in_backticks(vrf.name)));
    return;
  }
  const auto held = prefixes_of_vrf(policy, leak.vrf.text);
  for (const Prefix& prefix : leak.prefixes) {
    const bool inside = std::any_of(held.begin(), held.end(),
                                    [&](const Prefix& other) { return other.overlaps(prefix); });
    if (!inside)
      diagnostics.error(
          "leak-outside-vrf", leak.at,
          fmt::format("vrf {} has no segment in {}", in_backticks(leak.vrf.text), prefix.str()));
  }
  const auto& back = target->second.leaks;
  if (std::none_of(back.begin(), back.end(),
                   [&](const VrfLeak& other) { return other.vrf.text == vrf.name; }))
    diagnostics
        .warning("leak-one-way", leak.at,
                 fmt::format("vrf {} sees vrf {}, but not the other way: replies have no route",
                             in_backticks(vrf.name), in_backticks(leak.vrf.text)),
                 fmt::format("add a leak of {} to vrf {}", in_backticks(vrf.name),
                             in_backticks(leak.vrf.text)))
        .related.push_back({target->second.at, "the other VRF is here"});
}

}  // namespace

void check_tenants(const Policy& policy, Diagnostics& diagnostics) {
  for (const Include& include : policy.includes)
    must_exist(include.tenant, "tenant", policy.tenants, diagnostics);
  for (const auto& [name, segment] : policy.segments)
    must_exist(segment.tenant, "tenant", policy.tenants, diagnostics);
  for (const auto& [name, partition] : policy.partitions)
    must_exist(partition.tenant, "tenant", policy.tenants, diagnostics);
}

void check_segments(const Policy& policy, const std::vector<std::string>& enforcers,
                    Diagnostics& diagnostics) {
  const std::vector<std::string_view> known(enforcers.begin(), enforcers.end());
  const auto must_be_enforcer = [&](const std::optional<Name>& name) {
    if (name && std::find(known.begin(), known.end(), name->text) == known.end())
      unknown(*name, "enforcer", known, diagnostics);
  };
  for (const auto& [name, segment] : policy.segments) {
    if (segment.vrf)
      must_exist(*segment.vrf, "vrf", policy.vrfs, diagnostics);
    must_be_enforcer(segment.gateway);
    must_be_enforcer(segment.isolated_by);
    check_partition(segment, policy, diagnostics);
    check_inside(segment, diagnostics);
    if (segment.behind && segment.vlan)
      diagnostics.error(
          "vlan-and-behind", segment.behind->at,
          fmt::format("segment {} is behind hosts and has a VLAN as well", in_backticks(name)),
          "leave `vlan` out: its sources arrive through those hosts");
  }
  std::map<std::uint16_t, const Segment*> vlans;
  for (const auto& [name, segment] : policy.segments) {
    if (!segment.vlan)
      continue;
    const auto [found, added] = vlans.try_emplace(*segment.vlan, &segment);
    if (!added)
      diagnostics
          .warning(
              "shared-vlan", segment.at,
              fmt::format("segment {} shares VLAN {} with segment {}: on one switch nothing "
                          "separates them",
                          in_backticks(name), *segment.vlan, in_backticks(found->second->name)))
          .related.push_back({found->second->at, "the other is here"});
  }
}

void check_vrfs(const Policy& policy, Diagnostics& diagnostics) {
  check_unique_numbers(
      policy, "table", [](const Vrf& vrf) { return vrf.table; }, diagnostics);
  check_unique_numbers(
      policy, "vni", [](const Vrf& vrf) { return vrf.vni.value_or(0); }, diagnostics);
  for (const auto& [name, vrf] : policy.vrfs) {
    // linux/rtnetlink.h: RT_TABLE_DEFAULT, RT_TABLE_MAIN, RT_TABLE_LOCAL
    if (vrf.table >= 253 && vrf.table <= 255)
      diagnostics.error(
          "reserved-table", vrf.at,
          fmt::format("table {} of vrf {} is the kernel's own", vrf.table, in_backticks(name)),
          "choose another than 253, 254 and 255");
    for (const VrfLeak& leak : vrf.leaks)
      check_leak(vrf, leak, policy, diagnostics);
  }
}

}  // namespace bulkhead::policy
