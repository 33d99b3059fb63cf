#include "compiler/proof/policy_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/proof/family_fields.h"
#include "compiler/proof/naming.h"

namespace bulkhead::compiler::proof {

namespace {

using policy::ClassId;
using policy::Kind;

constexpr Value kTcp = 6, kUdp = 17, kSctp = 132, kIcmp = 1, kIcmp6 = 58;

// Does the box hold packets whose field lies in the range?
bool holds(const Box& box, Field field, ValueRange wanted) {
  const auto* ranges = ranges_of(box, field);
  return ranges == nullptr ||
         std::any_of(ranges->begin(), ranges->end(), [&](const ValueRange& range) {
           return range.first <= wanted.last && wanted.first <= range.last;
         });
}

bool holds(const Box& box, Field field, Value value) {
  return holds(box, field, ValueRange{value, value});
}

bool has_ports(const Box& box, Value protocol, PortRange ports) {
  return holds(box, Field::Protocol, protocol) &&
         holds(box, Field::DestinationPort, ValueRange{ports.first, ports.last});
}

bool has_query(const Box& box, Family family, std::uint16_t row) {
  const policy::IcmpQuery& query = policy::kIcmpQueries[row];
  const auto type = family == Family::V4 ? query.v4_type : query.v6_type;
  return type && holds(box, Field::Protocol, family == Family::V4 ? kIcmp : kIcmp6) &&
         holds(box, Field::SourcePort, icmp_types({*type, *type}));
}

bool has_traffic(const Box& box, Family family, const policy::TrafficKey& key, PortRange ports) {
  switch (key.kind) {
    case Kind::Tcp:
      return has_ports(box, kTcp, ports);
    case Kind::Udp:
      return has_ports(box, kUdp, ports);
    case Kind::Sctp:
      return has_ports(box, kSctp, ports);
    case Kind::Icmp:
      for (std::uint16_t row = ports.first; row <= ports.last; ++row)
        if (has_query(box, family, row))
          return true;
      return false;
    case Kind::Ip:
      return holds(box, Field::Protocol, Value{key.protocol});
    case Kind::Dhcp:
      return has_ports(box, kUdp, {67, 68}) || has_ports(box, kUdp, {546, 547});
    case Kind::Roce:
    case Kind::GpuDirect:
      return has_ports(box, kUdp, {policy::kRocePort, policy::kRocePort});
    case Kind::Ib:
      return false;
  }
  return false;
}

std::vector<bool> classes_in(const Site& site, const std::vector<ValueRange>* ranges,
                             Family family) {
  std::vector<bool> in;
  for (const policy::Class& cls : site.matrix.universe.classes) {
    const AddressSet held = of_family(cls.addresses, family);
    const bool is_in =
        !held.empty() &&
        (ranges == nullptr || std::any_of(held.begin(), held.end(), [&](const AddressRange& range) {
           const ValueRange here = values(range);
           return std::any_of(ranges->begin(), ranges->end(), [&](const ValueRange& other) {
             return here.first <= other.last && other.first <= here.last;
           });
         }));
    in.push_back(is_in);
  }
  return in;
}

class Words {
 public:
  Words(const Site& site, const Box& box, Family family)
      : site_(site),
        box_(box),
        family_(family),
        from_(classes_in(site, ranges_of(box, source(family)), family)),
        to_(classes_in(site, ranges_of(box, destination(family)), family)) {}

  PolicyWords find() {
    PolicyWords out;
    for (const policy::Never& never : site_.policy.nevers)
      if (is_crossed(never))
        out.nevers.push_back("never " + named(never.id, never.at));
    std::set<std::string> denying, allowing;
    for (const policy::Cell& cell : site_.matrix.cells) {
      if (!from_[cell.from] || !to_[cell.to])
        continue;
      for (const policy::Piece& piece : cell.pieces)
        if (has_traffic(box_, family_, piece.key, piece.ports))
          (piece.action == policy::Action::Deny ? denying : allowing)
              .insert(piece.rules.begin(), piece.rules.end());
    }
    for (const policy::Flow& flow : site_.policy.flows) {
      if (denying.contains(flow.id))
        out.denied.push_back(named(flow.id, flow.at));
      if (allowing.contains(flow.id))
        out.allowed.push_back(named(flow.id, flow.at));
    }
    return out;
  }

 private:
  [[nodiscard]] std::string named(const std::string& id, SourcePos at) const {
    if (at.line == 0)
      return id;
    return fmt::format("{} ({}:{})", id, site_.sources.file(at.file).name, at.line);
  }

  [[nodiscard]] bool is_crossed(const policy::Never& never) const {
    if (!never.services.empty() && !has_service(never))
      return false;
    const auto& universe = site_.matrix.universe;
    const auto chosen = [&](const std::vector<policy::Selector>& selectors,
                            const std::vector<bool>& in) {
      std::set<ClassId> out;
      for (const policy::Selector& selector : selectors)
        for (const ClassId cls : policy::select(selector, universe))
          if (in[cls])
            out.insert(cls);
      return out;
    };
    const auto to = chosen(never.to, to_);
    for (const ClassId from : chosen(never.from, from_))
      for (const ClassId target : to)
        if (policy::is_pair(universe, from, target) &&
            !policy::is_excepted(never, universe, from, target))
          return true;
    return false;
  }

  [[nodiscard]] bool has_service(const policy::Never& never) const {
    return std::any_of(never.services.begin(), never.services.end(), [&](const policy::Name& name) {
      const auto service = site_.policy.services.find(name.text);
      return service != site_.policy.services.end() &&
             std::any_of(service->second.terms.begin(), service->second.terms.end(),
                         [&](const policy::Traffic& term) {
                           return std::any_of(term.ports.begin(), term.ports.end(),
                                              [&](const PortRange& ports) {
                                                return has_traffic(box_, family_, term.key, ports);
                                              });
                         });
    });
  }

  const Site& site_;
  const Box& box_;
  Family family_;
  std::vector<bool> from_, to_;  // classes of the box
};

}  // namespace

PolicyWords words_of_policy(const Site& site, const Box& box, Family family) {
  return Words(site, box, family).find();
}

}  // namespace bulkhead::compiler::proof
