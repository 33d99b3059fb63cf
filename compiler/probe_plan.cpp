#include "compiler/probe_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "compiler/probe_detours.h"
#include "compiler/probe_traffic.h"
#include "compiler/representatives.h"

namespace bulkhead::compiler {
namespace {

using policy::Cell;
using policy::Class;
using policy::ClassId;
using policy::ClassKind;

bool has_family(const Class& cls, Family family) {
  return !of_family(cls.addresses, family).empty();
}

std::set<std::string> tags_of(const Probe& probe, const policy::Universe& universe) {
  std::set<std::string> tags{std::string(to_string(probe.transport)),
                             std::string(to_string(probe.expect)),
                             std::string(to_string(probe.to.address.family))};
  for (const ProbeEnd* end : {&probe.from, &probe.to}) {
    const Class& cls = universe.classes[end->cls];
    tags.insert({cls.name, cls.place, cls.tenant});
  }
  for (std::size_t at = 0; at <= probe.rule.size();) {
    const std::size_t comma = std::min(probe.rule.find(',', at), probe.rule.size());
    tags.insert(probe.rule.substr(at, comma - at));
    at = comma + 1;
  }
  return tags;
}

bool wanted(const Probe& probe, const policy::Universe& universe, const PlanOptions& options) {
  if (options.include.empty() && options.exclude.empty())
    return true;
  const std::set<std::string> tags = tags_of(probe, universe);
  const auto tagged = [&](const std::string& tag) { return tags.contains(tag); };
  return (options.include.empty() ||
          std::any_of(options.include.begin(), options.include.end(), tagged)) &&
         std::none_of(options.exclude.begin(), options.exclude.end(), tagged);
}

class Planner {
 public:
  Planner(const Site& site, const PlanOptions& options)
      : site_(site), options_(options), who_(site, options) {
    canary_ports_ = site.inventory.probe.canary_ports;
    if (canary_ports_.empty())
      canary_ports_.assign(std::begin(kCanaryPorts), std::end(kCanaryPorts));
  }

  ProbePlan run() {
    const auto n = static_cast<ClassId>(classes().size());
    for (ClassId from = 0; from < n; ++from) {
      for (ClassId to = 0; to < n; ++to)
        plan_cell(from, to);
    }
    add_detours();
    finish();
    return std::move(plan_);
  }

 private:
  [[nodiscard]] const std::vector<Class>& classes() const { return site_.matrix.universe.classes; }

  void leave_out(ClassId from, ClassId to, std::string what, std::string reason,
                 bool vacuous = false) {
    plan_.unprobed.push_back({from, to, std::move(what), std::move(reason), vacuous, false});
  }

  void plan_cell(ClassId from, ClassId to) {
    if (from == to && (classes()[from].kind == ClassKind::Enforcer || who_.host_count(from) == 1)) {
      leave_out(from, to, "", "there is one host only: nothing flows between it and itself", true);
      return;
    }
    std::vector<Family> families;
    for (const Family family : kFamilies) {
      if (has_family(classes()[from], family) && has_family(classes()[to], family))
        families.push_back(family);
    }
    if (families.empty()) {
      const bool partition = classes()[from].kind == ClassKind::Partition ||
                             classes()[to].kind == ClassKind::Partition;
      leave_out(from, to, "",
                partition ? "InfiniBand keys: no IP transport reaches a partition"
                          : "the two have no address family in common",
                !partition);
      return;
    }
    const std::size_t before = plan_.probes.size();
    filtered_ = 0;
    reasons_.clear();
    for (const Family family : families)
      plan_family(from, to, family);
    report_unprobed(from, to, plan_.probes.size() > before, families.size());
  }

  // The first pair of ends on two hosts, sources in order of preference.
  std::vector<std::pair<ProbeEnd, ProbeEnd>> pairs(ClassId from, ClassId to, Family family,
                                                   std::string& why) const {
    std::vector<std::pair<ProbeEnd, ProbeEnd>> out;
    for (const ProbeEnd& source : who_.sources(from, to, family, why)) {
      for (const ProbeEnd& target : who_.targets(to, family, source, why))
        out.emplace_back(source, target);
      if (!out.empty())
        break;
    }
    return out;
  }

  void plan_family(ClassId from, ClassId to, Family family) {
    const CellCoverage& coverage = site_.coverage.at(from, to);
    const Cell* cell = site_.matrix.find(from, to);
    CellTraffic traffic =
        traffic_of(site_.matrix, cell, site_.matrix.find(to, from), family, canary_ports_);
    for (const std::string& piece : traffic.untested)
      note(piece, "bulkhead sends TCP, UDP, ICMP echo and RoCE headers only");
    if (coverage.cause == Cause::None || coverage.cause == Cause::Partition) {
      const auto denied = std::erase_if(
          traffic.shots, [](const Shot& shot) { return shot.expect == Expect::Deny; });
      if (denied > 0)
        note(traffic.shots.empty() ? "" : "denied traffic",
             coverage.reason.empty() ? "nothing on the path separates the two" : coverage.reason);
    }
    if (traffic.shots.empty())
      return;
    std::string why;
    const auto ends = pairs(from, to, family, why);
    if (ends.empty())
      note(std::string(to_string(family)), why);
    for (const auto& [source, target] : ends) {
      for (const Shot& shot : traffic.shots)
        add(source, target, shot, coverage);
    }
  }

  void add(const ProbeEnd& from, const ProbeEnd& to, const Shot& shot,
           const CellCoverage& coverage) {
    Probe probe;
    probe.from = from;
    probe.to = to;
    probe.transport = shot.transport;
    probe.payload = shot.payload;
    probe.port = shot.port;
    probe.sport = shot.sport;
    probe.size = shot.size;
    probe.expect = shot.expect;
    probe.cause = shot.expect == Expect::Deny ? coverage.cause : Cause::None;
    probe.rule = shot.rule;
    if (!coverage.path.empty()) {
      const bool named = std::find(coverage.path.begin(), coverage.path.end(), coverage.control) !=
                         coverage.path.end();
      probe.enforcer = named ? coverage.control : coverage.path.front();
    }
    if (wanted(probe, site_.matrix.universe, options_))
      plan_.probes.push_back(std::move(probe));
    else
      ++filtered_;
  }

  void add_detours() {
    const auto key = [](const Probe& p) {
      return std::tuple(p.from.host, p.from.address, p.to.host, p.to.address, p.transport, p.port,
                        p.detour.host);
    };
    std::set<decltype(key(std::declval<Probe>()))> known;
    for (const Probe& probe : plan_.probes) {
      if (probe.expect == Expect::Allow)
        known.insert(key(probe));
    }
    for (Probe& probe : detours(site_, who_, canary_ports_.front())) {
      if (known.insert(key(probe)).second && wanted(probe, site_.matrix.universe, options_))
        plan_.probes.push_back(std::move(probe));
    }
  }

  void note(std::string what, std::string reason) {
    const std::pair entry{std::move(what), std::move(reason)};
    if (std::find(reasons_.begin(), reasons_.end(), entry) == reasons_.end())
      reasons_.push_back(entry);
  }

  // A reason that holds for every family is one of the whole cell.
  void report_unprobed(ClassId from, ClassId to, bool probed, std::size_t families) {
    std::set<std::string> family_reasons;
    std::size_t failed_families = 0;
    for (const auto& [what, reason] : reasons_) {
      if (what == "v4" || what == "v6") {
        ++failed_families;
        family_reasons.insert(reason);
      }
    }
    const bool whole = !probed && failed_families == families && family_reasons.size() == 1;
    if (whole)
      leave_out(from, to, "", *family_reasons.begin());
    for (auto& [what, reason] : reasons_) {
      if (!whole || (what != "v4" && what != "v6"))
        leave_out(from, to, std::move(what), std::move(reason));
    }
    if (filtered_ > 0)
      plan_.unprobed.push_back({from, to, probed ? "some probes" : "",
                                "left out by --include or --exclude", false, true});
  }

  void finish() {
    const auto key = [](const Probe& p) {
      return std::tuple(p.from.cls, p.to.cls, p.transport, p.to.address.family, p.port, p.payload,
                        p.size, p.to.address, p.detour.host);
    };
    std::stable_sort(plan_.probes.begin(), plan_.probes.end(),
                     [&](const Probe& a, const Probe& b) { return key(a) < key(b); });
    for (std::size_t i = 0; i < plan_.probes.size(); ++i)
      plan_.probes[i].id = fmt::format("p-{:06}", i + 1);
  }

  const Site& site_;
  const PlanOptions& options_;
  Representatives who_;
  std::vector<std::uint16_t> canary_ports_;
  ProbePlan plan_;
  // Of the cell at hand.
  std::size_t filtered_ = 0;
  std::vector<std::pair<std::string, std::string>> reasons_;
};

}  // namespace

std::string_view to_string(Transport transport) {
  switch (transport) {
    case Transport::Tcp:
      return "tcp";
    case Transport::Udp:
      return "udp";
    case Transport::Icmp:
      return "icmp";
  }
  return "tcp";
}

std::string_view to_string(Payload payload) {
  switch (payload) {
    case Payload::Token:
      return "token";
    case Payload::RoceRequest:
      return "roce-request";
    case Payload::RoceAcknowledge:
      return "roce-acknowledge";
  }
  return "token";
}

std::string_view to_string(Expect expect) {
  return expect == Expect::Allow ? "allow" : "deny";
}

ProbePlan plan_probes(const Site& site, const PlanOptions& options) {
  return Planner(site, options).run();
}

}  // namespace bulkhead::compiler
