// Things that must not be one: prefixes of one VRF, names after cleaning, partition keys, ids.
#include <algorithm>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "policy/identifier.h"
#include "policy/support/text.h"
#include "policy/validate_parts.h"

namespace bulkhead::policy {

namespace {

// A prefix and who holds it.
struct Holding {
  Prefix prefix;
  std::string_view vrf;   // of a segment; empty: the main table
  std::string_view kind;  // "segment" or "external"
  std::string_view name;
  SourcePos at;
  [[nodiscard]] bool is_external() const { return kind == "external"; }
  [[nodiscard]] std::string holder() const {
    return fmt::format("{} {}", kind, in_backticks(name));
  }
};

std::vector<Holding> holdings(const Policy& policy) {
  std::vector<Holding> out;
  for (const auto& [name, segment] : policy.segments) {
    for (std::size_t i = 0; i < segment.prefixes.size(); ++i)
      out.push_back({segment.prefixes[i], segment.vrf ? std::string_view(segment.vrf->text) : "",
                     "segment", name,
                     i < segment.prefixes_at.size() ? segment.prefixes_at[i] : segment.at});
  }
  for (const auto& [name, external] : policy.externals) {
    for (const Prefix& prefix : external.prefixes)
      out.push_back({prefix, {}, "external", name, external.at});
  }
  std::sort(out.begin(), out.end(), [](const Holding& a, const Holding& b) {
    return std::tie(a.prefix, a.at, a.name) < std::tie(b.prefix, b.at, b.name);
  });
  return out;
}

void report_overlap(const Holding& a, const Holding& b, Diagnostics& diagnostics) {
  const bool same = a.kind == b.kind && a.name == b.name;
  const Holding& first = a.at < b.at ? a : b;
  const Holding& second = a.at < b.at ? b : a;
  std::string_view hint = "give the two different VRFs, or different prefixes";
  if (same)
    hint = "one of the two is enough";
  else if (a.is_external() || b.is_external())
    hint = "an external is outside of every VRF: take the smaller one out of the larger";
  auto& error = diagnostics.error("overlap", second.at,
                                  fmt::format("{} of {} overlaps {} of {}", second.prefix.str(),
                                              second.holder(), first.prefix.str(), first.holder()),
                                  std::string(hint));
  if (!same)
    error.related.push_back({first.at, "the other is here"});
}

// Of two prefixes either one holds the other or they are apart. So, in order of address, a prefix
// overlaps an earlier one only if it lies in the innermost that is still open.
class Nest {
 public:
  [[nodiscard]] const Holding* around(const Prefix& prefix) {
    while (!open_.empty() && !open_.back()->prefix.contains(prefix.base))
      open_.pop_back();
    return open_.empty() ? nullptr : open_.back();
  }
  void push(const Holding& holding) { open_.push_back(&holding); }

 private:
  std::vector<const Holding*> open_;
};

class Cleaned {
 public:
  Cleaned(std::string_view kind, Diagnostics& diagnostics)
      : kind_(kind), diagnostics_(diagnostics) {}
  void add(const std::string& name, SourcePos at) {
    const auto [found, added] = seen_.try_emplace(nft_identifier(name), Name{name, at});
    if (!added && found->second.text != name)
      diagnostics_
          .error("name-collision", at,
                 fmt::format("{} {} and {} are both {} in a ruleset", kind_, in_backticks(name),
                             in_backticks(found->second.text), in_backticks(found->first)),
                 "- and _ are one there; rename one of the two")
          .related.push_back({found->second.at, "the other is here"});
  }

 private:
  std::string_view kind_;
  Diagnostics& diagnostics_;
  std::map<std::string, Name> seen_;
};

template <class T>
void check_names(const std::map<std::string, T>& named, std::string_view kind,
                 Diagnostics& diagnostics) {
  Cleaned cleaned(kind, diagnostics);
  for (const auto& [name, value] : named)
    cleaned.add(name, value.at);
}

void check_keys(const Policy& policy, Diagnostics& diagnostics) {
  std::map<std::uint16_t, const IbPartition*> keys;
  for (const auto& [name, partition] : policy.partitions) {
    if (!partition.pkey)
      continue;
    const auto [found, added] = keys.try_emplace(*partition.pkey, &partition);
    if (!added)
      diagnostics
          .error(
              "pkey-collision", partition.at,
              fmt::format("partitions {} and {} have the same key 0x{:04x} in its 15 bits: they "
                          "are one partition",
                          in_backticks(found->second->name), in_backticks(name), *partition.pkey))
          .related.push_back({found->second->at, "the other is here"});
  }
}

}  // namespace

void check_overlaps(const Policy& policy, Diagnostics& diagnostics) {
  const auto all = holdings(policy);
  std::map<std::string_view, Nest> vrfs;
  Nest outside;
  for (const Holding& holding : all) {
    const auto check = [&](Nest& nest) {
      if (const Holding* around = nest.around(holding.prefix))
        report_overlap(*around, holding, diagnostics);
    };
    check(outside);
    if (holding.is_external()) {
      for (auto& [name, nest] : vrfs)
        check(nest);
      outside.push(holding);
    } else {
      Nest& nest = vrfs[holding.vrf];
      check(nest);
      nest.push(holding);
    }
  }
  for (const Family family : kFamilies) {
    const External* first = nullptr;
    for (const auto& [name, external] : policy.externals) {
      if (!(family == Family::V4 ? external.rest_v4 : external.rest_v6))
        continue;
      if (first)
        diagnostics
            .error("two-rests", external.at,
                   fmt::format("externals {} and {} are both the rest of {}",
                               in_backticks(first->name), in_backticks(name), to_string(family)))
            .related.push_back({first->at, "the other is here"});
      first = &external;
    }
  }
}

void check_collisions(const Policy& policy, Diagnostics& diagnostics) {
  check_names(policy.tenants, "tenants", diagnostics);
  check_names(policy.vrfs, "VRFs", diagnostics);
  check_names(policy.externals, "externals", diagnostics);
  check_names(policy.services, "services", diagnostics);
  Cleaned places("segments or partitions", diagnostics);
  for (const auto& [name, segment] : policy.segments)
    places.add(name, segment.at);
  for (const auto& [name, partition] : policy.partitions) {
    places.add(name, partition.at);
    const auto segment = policy.segments.find(name);
    if (segment != policy.segments.end())
      diagnostics
          .error("name-collision", partition.at,
                 fmt::format("{} is a partition and a segment: a selector could mean either",
                             in_backticks(name)))
          .related.push_back({segment->second.at, "the segment is here"});
  }
  check_keys(policy, diagnostics);
}

void check_groups(const Policy& policy, Diagnostics& diagnostics) {
  const auto is_broadcast = [&](const Address& address) {
    if (address == *Address::parse("255.255.255.255"))
      return true;
    return std::any_of(policy.segments.begin(), policy.segments.end(), [&](const auto& entry) {
      return std::any_of(
          entry.second.prefixes.begin(), entry.second.prefixes.end(), [&](const Prefix& prefix) {
            return prefix.family() == Family::V4 && prefix.length < 31 && prefix.last() == address;
          });
    });
  };
  for (const auto& [name, service] : policy.services) {
    for (const Traffic& term : service.terms) {
      if (term.key.group && !term.key.group->is_multicast() && !is_broadcast(*term.key.group))
        diagnostics.error("bad-group", service.at,
                          fmt::format("{} of service {} is neither multicast nor the broadcast "
                                      "address of a segment",
                                      term.key.group->str(), in_backticks(name)),
                          "who receives is said by the flow");
    }
  }
}

void check_ids(const Policy& policy, Diagnostics& diagnostics) {
  std::unordered_map<std::string_view, SourcePos> seen;
  const auto check = [&](const std::string& id, SourcePos at) {
    if (id.empty())
      return;
    const auto [found, added] = seen.try_emplace(id, at);
    if (!added)
      diagnostics.error("duplicate-id", at, fmt::format("id {} is used twice", in_backticks(id)))
          .related.push_back({found->second, "first used here"});
  };
  for (const Flow& flow : policy.flows)
    check(flow.id, flow.at);
  for (const Never& never : policy.nevers)
    check(never.id, never.at);
}

void check_class_names(const Universe& universe, const Policy& policy, Diagnostics& diagnostics) {
  std::map<std::string, const Class*> seen;
  for (const Class& cls : universe.classes) {
    const auto [found, added] = seen.try_emplace(nft_identifier(cls.name), &cls);
    if (added)
      continue;
    const auto segment = policy.segments.find(cls.place);
    diagnostics.error(
        "name-collision", segment == policy.segments.end() ? SourcePos{} : segment->second.at,
        fmt::format("classes {} and {} are both {} in a ruleset", in_backticks(found->second->name),
                    in_backticks(cls.name), in_backticks(found->first)),
        "rename a segment or a label");
  }
}

}  // namespace bulkhead::policy
