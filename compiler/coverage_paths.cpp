#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/coverage_parts.h"

namespace bulkhead::compiler {
namespace {

using policy::ClassId;

SourcePos position(const CoverageFacts& facts, const Place& place) {
  if (const policy::Segment* segment = facts.topology.segment(place))
    return segment->at;
  if (place.what == Place::What::External) {
    const auto external = facts.policy.externals.find(place.name);
    return external == facts.policy.externals.end() ? SourcePos{} : external->second.at;
  }
  const auto enforcer = facts.inventory.enforcers.find(place.name);
  return enforcer == facts.inventory.enforcers.end() ? SourcePos{} : enforcer->second.at;
}

std::string shown(const std::vector<std::string>& path) {
  return path.empty() ? "no enforcer of ours" : fmt::format("{}", fmt::join(path, ", "));
}

// An enforcer that sees only one direction has no state for the other: replies of allowed flows
// die, or pass where nobody looks.
void report_asymmetry(const CoverageFacts& facts, const CellCoverage& there,
                      const CellCoverage& back, Diagnostics& diagnostics) {
  const auto& classes = facts.matrix.universe.classes;
  const Place from = facts.topology.place_of(classes[there.from]);
  const Place to = facts.topology.place_of(classes[there.to]);
  diagnostics
      .error("asymmetric-path", position(facts, from),
             fmt::format("packets from {} to {} pass {}, those back pass {}", from.name, to.name,
                         shown(there.path), shown(back.path)),
             "give both directions one path: legs and gateways in inventory.toml")
      .related.push_back({position(facts, to), fmt::format("{} is here", to.name)});
}

bool arrives_on(const CoverageFacts& facts, const Place& from, const Place& to) {
  return from.what != Place::What::Nowhere && to.what != Place::What::Nowhere &&
         facts.topology.path(from, to).arrives;
}

void report_choice(const CoverageFacts& facts, const Place& from, const Place& to, const Path& path,
                   Diagnostics& diagnostics) {
  std::vector<std::string> names;
  for (const Enforcer* router : path.other_first)
    names.push_back(router->name);
  Diagnostic& found = diagnostics.error("two-paths", position(facts, from),
                                        fmt::format("from {} to {} any of {} may be passed",
                                                    from.name, to.name, fmt::join(names, ", ")),
                                        "say in the legs which of them it is");
  for (const Enforcer* router : path.other_first)
    found.related.push_back({router->at, fmt::format("{} is here", router->name)});
}

// VRFs whose addresses meet those of another VRF on this enforcer: told apart by conntrack zone.
std::set<std::string> overlapping_vrfs(const policy::Universe& universe, const EnforcerView& view) {
  struct Held {
    AddressRange range;
    const std::string* vrf;
  };
  std::vector<Held> held;
  for (const LegBinding& binding : view.bindings) {
    const policy::Class& cls = universe.classes[binding.cls];
    if (cls.kind == policy::ClassKind::External)
      continue;  // cut to what no segment holds
    for (const AddressRange& range : cls.addresses)
      held.push_back({range, &cls.vrf});
  }
  std::sort(held.begin(), held.end(),
            [](const Held& a, const Held& b) { return a.range < b.range; });
  std::set<std::string> out;
  std::map<std::string, Address> ends;  // of each VRF so far
  for (const Held& next : held) {
    for (const auto& [vrf, end] : ends)
      if (vrf != *next.vrf && next.range.first <= end) {
        out.insert(vrf);
        out.insert(*next.vrf);
      }
    Address& end = ends.try_emplace(*next.vrf, next.range.last).first->second;
    end = std::max(end, next.range.last);
  }
  return out;
}

void report_overlaps(const CoverageFacts& facts, const Coverage& coverage,
                     Diagnostics& diagnostics) {
  const policy::Universe& universe = facts.matrix.universe;
  std::set<std::string> reported;
  for (const EnforcerView& view : coverage.views) {
    const std::set<std::string> vrfs = overlapping_vrfs(universe, view);
    if (vrfs.empty())
      continue;
    for (const policy::Cell& cell : facts.matrix.cells) {
      const policy::Class& from = universe.classes[cell.from];
      const policy::Class& to = universe.classes[cell.to];
      const auto& path = coverage.at(cell.from, cell.to).path;
      const bool crosses = from.vrf != to.vrf && (vrfs.contains(from.vrf) || vrfs.contains(to.vrf));
      const bool local =
          from.kind == policy::ClassKind::Enforcer || to.kind == policy::ClassKind::Enforcer;
      if (!crosses || local || std::find(path.begin(), path.end(), view.enforcer) == path.end())
        continue;
      for (const policy::Piece& piece : cell.pieces) {
        if (piece.action != policy::Action::Allow || !reported.insert(piece.rules.front()).second)
          continue;
        for (const policy::Flow& flow : facts.policy.flows)
          if (flow.id == piece.rules.front())
            diagnostics.error(
                "crosses-overlapping-vrf", flow.at,
                fmt::format("{} allows {} to {}, but addresses of VRFs {} overlap on {}: replies "
                            "would miss their state",
                            flow.id, from.name, to.name, fmt::join(vrfs, ", "), view.enforcer),
                "keep the flow inside one VRF, or give the VRFs prefixes of their own");
      }
    }
  }
}

}  // namespace

void report_paths(const CoverageFacts& facts, const Coverage& coverage, Diagnostics& diagnostics) {
  const auto& classes = facts.matrix.universe.classes;
  std::set<std::pair<Place, Place>> seen;
  for (const CellCoverage& there : coverage.cells) {
    if (there.from >= there.to || there.cause == Cause::Partition)
      continue;
    const Place from = facts.topology.place_of(classes[there.from]);
    const Place to = facts.topology.place_of(classes[there.to]);
    if (from == to || !seen.insert({from, to}).second)
      continue;
    const CellCoverage& back = coverage.at(there.to, there.from);
    // Where no packet arrives either way (a segment without a gateway) there is no path to compare.
    const bool arrives = arrives_on(facts, from, to) || arrives_on(facts, to, from);
    if (arrives &&
        !std::equal(there.path.begin(), there.path.end(), back.path.rbegin(), back.path.rend()))
      report_asymmetry(facts, there, back, diagnostics);
    for (const auto& [a, b] : {std::pair(from, to), std::pair(to, from)}) {
      const bool routed = a.what != Place::What::Nowhere && b.what != Place::What::Nowhere;
      if (routed)
        if (const Path& path = facts.topology.path(a, b); !path.other_first.empty())
          report_choice(facts, a, b, path, diagnostics);
    }
  }
  report_overlaps(facts, coverage, diagnostics);
}

}  // namespace bulkhead::compiler
