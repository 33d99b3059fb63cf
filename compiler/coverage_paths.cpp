#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/coverage_parts.h"

namespace bulkhead::compiler {
namespace {

SourcePos position(const CoverageFacts& facts, const Place& place) {
  if (place.segment)
    return place.segment->at;
  if (place.enforcer)
    return place.enforcer->at;
  const auto external = facts.policy.externals.find(place.name);
  return external == facts.policy.externals.end() ? SourcePos{} : external->second.at;
}

std::vector<std::string> managed(const Path& path) {
  std::vector<std::string> out;
  for (const Hop& hop : path.hops)
    if (hop.router->manage == Manage::Bulkhead)
      out.push_back(hop.router->name);
  return out;
}

std::string shown(const std::vector<std::string>& path) {
  return path.empty() ? "no enforcer of ours" : fmt::format("{}", fmt::join(path, ", "));
}

// An enforcer that sees only one direction has no state for the other: replies of allowed flows
// die, or pass where nobody looks.
void report_asymmetry(const CoverageFacts& facts, const Place& from, const Place& to,
                      const Path& there, const Path& back, Diagnostics& diagnostics) {
  diagnostics
      .error("asymmetric-path", position(facts, from),
             fmt::format("packets from {} to {} pass {}, those back pass {}", from.name, to.name,
                         shown(managed(there)), shown(managed(back))),
             "give both directions one path: legs and gateways in inventory.toml")
      .related.push_back({position(facts, to), fmt::format("{} is here", to.name)});
}

void report_choice(const CoverageFacts& facts, const Place& from, const Place& to, const Path& path,
                   Diagnostics& diagnostics) {
  std::vector<std::string> names;
  for (const Enforcer* router : path.equally_good)
    names.push_back(router->name);
  Diagnostic& found = diagnostics.error("two-paths", position(facts, from),
                                        fmt::format("from {} to {} any of {} may be passed",
                                                    from.name, to.name, fmt::join(names, ", ")),
                                        "say in the legs which of them it is");
  for (const Enforcer* router : path.equally_good)
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
  const std::vector<Place>& places = facts.topology.places();
  const auto is_routed = [&](const Place& place) {
    return place.what != Place::What::Nowhere && place.what != Place::What::Partition;
  };
  for (std::size_t a = 0; a < places.size(); ++a)
    for (std::size_t b = a + 1; b < places.size(); ++b) {
      if (!is_routed(places[a]) || !is_routed(places[b]))
        continue;
      const Path& there = facts.topology.path(a, b);
      const Path& back = facts.topology.path(b, a);
      std::vector<std::string> reversed = managed(back);
      std::reverse(reversed.begin(), reversed.end());
      if (there.arrives && back.arrives && managed(there) != reversed)
        report_asymmetry(facts, places[a], places[b], there, back, diagnostics);
      if (!there.equally_good.empty())
        report_choice(facts, places[a], places[b], there, diagnostics);
      else if (!back.equally_good.empty())
        report_choice(facts, places[b], places[a], back, diagnostics);
    }
  report_overlaps(facts, coverage, diagnostics);
}

}  // namespace bulkhead::compiler
