#include "compiler/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/coverage_parts.h"
#include "policy/date.h"

namespace bulkhead::compiler {
namespace {

using policy::Class;
using policy::ClassId;
using policy::ClassKind;
using policy::Segment;

class CoverageMaker {
 public:
  explicit CoverageMaker(const CoverageFacts& facts)
      : facts_(facts), classes_(facts.matrix.universe.classes) {}

  Coverage make() {
    const auto n = static_cast<ClassId>(classes_.size());
    coverage_.n = n;
    coverage_.cells.reserve(std::size_t{n} * n);
    for (ClassId from = 0; from < n; ++from)
      for (ClassId to = 0; to < n; ++to)
        coverage_.cells.push_back(cell(from, to));
    make_views();
    find_unseparated(facts_, coverage_);
    return std::move(coverage_);
  }

 private:
  CellCoverage cell(ClassId from, ClassId to) {
    CellCoverage out{from, to, Cause::None, {}, {}, {}, {}};
    const bool ib =
        classes_[from].kind == ClassKind::Partition || classes_[to].kind == ClassKind::Partition;
    if (ib)
      by_partition(out);
    else if (facts_.topology.place_of(from) == facts_.topology.place_of(to))
      by_segment(out);
    else if (!by_ipoib(out))
      by_path(out);
    return out;
  }

  void by_partition(CellCoverage& out) const {
    const Class& from = classes_[out.from];
    const Class& to = classes_[out.to];
    out.cause = Cause::Partition;
    if (from.kind != to.kind)
      out.reason = "InfiniBand ports and IP addresses do not meet";
    else if (from.place == to.place)
      out.reason = fmt::format("both in partition {}: membership decides", from.place);
    else
      out.reason = fmt::format("keys of {} and {}", from.place, to.place);
    for (const auto& [name, enforcer] : facts_.inventory.enforcers)
      if (enforcer.kind == EnforcerKind::Ib)
        out.control = name;
  }

  // IP over InfiniBand crosses partitions only where somebody routes.
  bool by_ipoib(CellCoverage& out) const {
    const Segment* from = place(out.from).segment;
    const Segment* to = place(out.to).segment;
    if (!from || !to || !from->ib_partition || !to->ib_partition)
      return false;
    if (from->gateway && to->gateway)
      return false;
    if (from->ib_partition->text == to->ib_partition->text) {
      out.reason = fmt::format("segments {} and {} share partition {}", from->name, to->name,
                               from->ib_partition->text);
      return true;
    }
    by_partition(out);
    out.reason = fmt::format("keys of {} and {}", from->ib_partition->text, to->ib_partition->text);
    return true;
  }

  void by_segment(CellCoverage& out) const {
    const Class& from = classes_[out.from];
    const Segment* segment = place(out.from).segment;
    if (from.has_peers && is_ours(from.place)) {
      out.path.push_back(from.place);
      out.cause = Cause::Rule;
      out.control = from.place;
      out.reason = fmt::format("between the members of {}", from.place);
      return;
    }
    if (from.kind == ClassKind::External || from.kind == ClassKind::Enforcer) {
      out.reason = "one and the same";
      return;
    }
    if (!segment) {
      out.cause = Cause::Route;
      out.reason = fmt::format("nothing leads to {}", from.place);
      return;
    }
    // A prefix behind hosts has an inside of its own.
    if (out.from == out.to && from.kind == ClassKind::Behind)
      segment = &facts_.policy.segments.at(from.place);
    if (segment->inside != policy::Inside::Isolated) {
      out.reason = fmt::format("same segment {}, inside = \"open\"", segment->name);
      return;
    }
    const auto control = segment->isolated_by
                             ? facts_.inventory.enforcers.find(segment->isolated_by->text)
                             : facts_.inventory.enforcers.end();
    if (control == facts_.inventory.enforcers.end() || !separates(control->second, "port")) {
      out.reason = fmt::format("same segment {}, and nobody keeps its ports apart", segment->name);
      return;
    }
    out.cause = Cause::External;
    out.control = control->first;
    out.reason =
        fmt::format("same segment {}, ports kept apart by {}", segment->name, control->first);
  }

  void by_path(CellCoverage& out) {
    for (const ClassId end : {out.from, out.to})
      if (place(end).what == Place::What::Nowhere) {
        out.cause = Cause::Route;
        out.reason = fmt::format("nothing leads to {}", place(end).name);
        return;
      }
    const Path& path =
        facts_.topology.path(facts_.topology.place_of(out.from), facts_.topology.place_of(out.to));
    for (const Hop& hop : path.hops)
      if (hop.router->manage == Manage::Bulkhead) {
        out.path.push_back(hop.router->name);
        bind(hop, out);
      }
    if (!path.arrives) {
      out.cause = Cause::Route;
      out.control = path.hops.empty() ? "" : path.hops.back().router->name;
      out.reason = path.reason;
    } else if (!out.path.empty()) {
      out.cause = Cause::Rule;
      out.control = out.path.front();
      out.reason = fmt::format("through {}", fmt::join(out.path, ", "));
    } else {
      out.reason = fmt::format("routed by {}, which we do not manage",
                               path.hops.empty() ? "nobody known" : path.hops.front().router->name);
    }
  }

  [[nodiscard]] bool is_ours(const std::string& enforcer) const {
    return facts_.inventory.enforcers.at(enforcer).manage == Manage::Bulkhead;
  }

  [[nodiscard]] const Place& place(ClassId cls) const {
    return facts_.topology.places()[facts_.topology.place_of(cls)];
  }

  void bind(const Hop& hop, const CellCoverage& cell) {
    auto& legs = bindings_[hop.router->name];
    if (hop.in)
      legs.try_emplace(cell.from, hop.in->interface);
    if (hop.out)
      legs.try_emplace(cell.to, hop.out->interface);
  }

  void make_views() {
    for (const auto& [name, enforcer] : facts_.inventory.enforcers) {
      const auto self = facts_.matrix.universe.id_of("enforcer:" + name);
      if (enforcer.manage != Manage::Bulkhead || enforcer.kind != EnforcerKind::Router || !self)
        continue;
      EnforcerView view{name, {}, *self};
      for (const auto& [cls, interface] : bindings_[name])
        view.bindings.push_back({cls, interface});
      coverage_.views.push_back(std::move(view));
    }
  }

  const CoverageFacts& facts_;
  const std::vector<Class>& classes_;
  std::map<std::string, std::map<ClassId, std::string>> bindings_;
  Coverage coverage_;
};

}  // namespace

std::string_view to_string(Cause cause) {
  switch (cause) {
    case Cause::None:
      return "none";
    case Cause::Rule:
      return "rule";
    case Cause::Route:
      return "route";
    case Cause::Partition:
      return "partition";
    case Cause::External:
      return "external";
  }
  return "none";
}

const CellCoverage& Coverage::at(policy::ClassId from, policy::ClassId to) const {
  return cells[from * n + to];
}

Coverage derive_coverage(const policy::Policy& policy, const Inventory& inventory,
                         const policy::Matrix& matrix, Diagnostics& diagnostics) {
  const Topology topology(policy, inventory, matrix.universe);
  const CoverageFacts facts{policy, inventory, matrix, topology};
  Coverage coverage = CoverageMaker(facts).make();
  // A wrong gateway or leg would make every path through it look wrong as well.
  if (!diagnostics.has_errors())
    report_paths(facts, coverage, diagnostics);
  report_coverage(facts, coverage, diagnostics);
  return coverage;
}

}  // namespace bulkhead::compiler
