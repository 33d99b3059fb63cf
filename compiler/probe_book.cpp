#include "compiler/probe_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "compiler/probe_bridges.h"
#include "compiler/probe_detours.h"
#include "compiler/probe_forgeries.h"
#include "compiler/representatives.h"
#include "policy/support/text.h"

namespace bulkhead::compiler {
namespace {

using policy::Class;
using policy::ClassId;
using policy::ClassKind;

bool has_family(const Class& cls, Family family) {
  return !of_family(cls.addresses, family).empty();
}

std::set<std::string> tags_of(const ProbeEnd& from, const ProbeEnd& to, const Shot& shot,
                              const policy::Universe& universe) {
  std::set<std::string> tags{std::string(to_string(shot.transport)),
                             std::string(to_string(shot.expect)),
                             std::string(to_string(to.address.family))};
  for (const ProbeEnd* end : {&from, &to}) {
    const Class& cls = universe.classes[end->cls];
    tags.insert({cls.name, cls.place, cls.tenant});
  }
  for (std::string& rule : split(shot.rule, ','))
    tags.insert(std::move(rule));
  return tags;
}

// Equal lists are kept once.
class ShotLists {
 public:
  explicit ShotLists(std::vector<std::vector<Shot>>& lists) : lists_(lists) {}
  std::uint32_t intern(std::vector<Shot> shots) {
    const auto [known, is_new] =
        known_.try_emplace(std::move(shots), static_cast<std::uint32_t>(lists_.size()));
    if (is_new)
      lists_.push_back(known->first);
    return known->second;
  }

 private:
  std::vector<std::vector<Shot>>& lists_;
  std::map<std::vector<Shot>, std::uint32_t> known_;
};

class BookMaker {
 public:
  BookMaker(const Site& site, const PlanOptions& options)
      : site_(site),
        options_(options),
        who_(site, options),
        traffic_(site.matrix, site.inventory.probe.canary_ports),
        lists_(book_.shots),
        place_in_book_(who_.ends().size(), kNotInBook) {}

  ProbeBook make() {
    const auto n = static_cast<ClassId>(classes().size());
    for (ClassId from = 0; from < n; ++from) {
      for (ClassId to = 0; to < n; ++to)
        make_cell(from, to);
    }
    add_detours(detours(site_, who_, traffic_.canary_port()));
    add_detours(bridges(site_, who_, traffic_.canary_port(), options_.seed));
    add_forgeries();
    return std::move(book_);
  }

 private:
  static constexpr EndId kNotInBook = std::numeric_limits<EndId>::max();

  [[nodiscard]] const std::vector<Class>& classes() const { return site_.matrix.universe.classes; }
  [[nodiscard]] bool is_filtered() const {
    return !options_.include.empty() || !options_.exclude.empty();
  }

  void leave_out(ClassId from, ClassId to, std::string what, std::string reason,
                 bool vacuous = false) {
    book_.unprobed.push_back({from, to, std::move(what), std::move(reason), vacuous, false});
  }

  [[nodiscard]] bool members_speak(ClassId enforcer) const {
    const policy::Cell* cell = site_.matrix.find(enforcer, enforcer);
    return cell && std::any_of(cell->pieces.begin(), cell->pieces.end(), [](const auto& piece) {
             return piece.action == policy::Action::Allow && piece.key.group;
           });
  }

  void make_cell(ClassId from, ClassId to) {
    if (from == to && classes()[from].kind == ClassKind::Enforcer && members_speak(from)) {
      leave_out(from, to, "",
                "the members of " + classes()[from].place +
                    " have the same addresses: no probe could tell them apart");
      book_.unprobed.back().not_asked = is_filtered();
      return;
    }
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
      // A wire between the two would carry link-local IPv6, and none of our packets shows it.
      const bool wires = has_wire(site_, from) && has_wire(site_, to);
      leave_out(from, to, "",
                partition ? "InfiniBand keys: no IP transport reaches a partition"
                : wires   ? "the two have no address family in common: no packet of a probe would "
                            "show a wire between them"
                          : "the two have no address family in common",
                !partition && !wires);
      return;
    }
    const std::size_t before = book_.pairs.size();
    filtered_ = 0;
    reasons_.clear();
    for (const Family family : families)
      make_family(from, to, family);
    report_unprobed(from, to, book_.pairs.size() > before, families.size());
  }

  void make_family(ClassId from, ClassId to, Family family) {
    const CellCoverage& coverage = site_.coverage.at(from, to);
    const bool denies_count = coverage.cause != Cause::None && coverage.cause != Cause::Partition;
    CellTraffic traffic =
        traffic_.of(site_.matrix.find(from, to), site_.matrix.find(to, from), family);
    for (const std::string& piece : traffic.untested)
      note(piece,
           "bulkhead sends TCP, UDP, ICMP queries, RoCE headers and plain IP protocols only");
    if (coverage.cause != Cause::Rule)
      traffic.beside_ports = nullptr;
    if (!denies_count) {
      const bool denied = std::exchange(traffic.by_default, nullptr) != nullptr;
      const auto explicitly =
          std::erase_if(traffic.said, [](const Shot& shot) { return shot.expect == Expect::Deny; });
      if (denied || explicitly > 0)
        note(traffic.said.empty() ? "" : "denied traffic",
             coverage.reason.empty() ? "nothing on the path separates the two" : coverage.reason);
    }
    if (!traffic.by_default && traffic.said.empty())
      return;
    std::string why;
    const auto ends = pairs(from, to, family, why);
    if (ends.empty())
      note(std::string(to_string(family)), why);
    for (const auto& [source, target] : ends) {
      add(source, target, traffic, coverage);
      traffic.beside_ports = nullptr;
    }
  }

  // Sources in order of preference, the first that has a target on another host.
  std::vector<std::pair<EndId, EndId>> pairs(ClassId from, ClassId to, Family family,
                                             std::string& why) const {
    std::vector<std::pair<EndId, EndId>> out;
    for (const EndId source : who_.sources(from, to, family, why)) {
      for (const EndId target : who_.targets(to, family, source, why))
        out.emplace_back(source, target);
      if (!out.empty())
        break;
    }
    return out;
  }

  void add(EndId from, EndId to, const CellTraffic& traffic, const CellCoverage& coverage) {
    ProbedPair pair;
    pair.cause = coverage.cause;
    if (traffic.by_default)
      ask(*traffic.by_default, from, to, pair);
    if (traffic.beside_ports)
      ask(*traffic.beside_ports, from, to, pair);
    ask(traffic.said, from, to, pair);
    if (pair.shots.empty())
      return;
    pair.from = in_book(from);
    pair.to = in_book(to);
    if (!coverage.path.empty()) {
      const bool named = std::find(coverage.path.begin(), coverage.path.end(), coverage.control) !=
                         coverage.path.end();
      pair.enforcer = named ? coverage.control : coverage.path.front();
    }
    book_.pairs.push_back(std::move(pair));
  }

  void ask(const std::vector<Shot>& shots, EndId from, EndId to, ProbedPair& pair) {
    const bool routed = pair.cause == Cause::Route;
    if (!is_filtered() && !routed) {
      if (!shots.empty())
        pair.shots.push_back(lists_.intern(shots));
      return;
    }
    std::vector<Shot> wanted;
    for (const Shot& shot : shots) {
      // Where no route leads no rule looks at the length, and a router need not tell of fragments.
      if (routed && shot.expect == Expect::Deny && shot.size == kLargePayload)
        continue;
      const auto tags = tags_of(who_.ends()[from], who_.ends()[to], shot, site_.matrix.universe);
      const auto tagged = [&](const std::string& tag) { return tags.contains(tag); };
      const auto any = [&](const std::vector<std::string>& asked) {
        return std::any_of(asked.begin(), asked.end(), tagged);
      };
      if ((options_.include.empty() || any(options_.include)) && !any(options_.exclude))
        wanted.push_back(shot);
      else
        ++filtered_;
    }
    if (!wanted.empty())
      pair.shots.push_back(lists_.intern(wanted));
  }

  void add_detours(const std::vector<DetourShot>& detour_shots) {
    std::map<std::pair<EndId, EndId>, std::vector<std::size_t>> between;
    if (!detour_shots.empty())
      for (std::size_t i = 0; i < book_.pairs.size(); ++i)
        between[{book_.pairs[i].from, book_.pairs[i].to}].push_back(i);
    for (const DetourShot& asked : detour_shots) {
      auto& others = between[{in_book(asked.from), in_book(asked.to)}];
      const bool is_control = asked.detour.host.empty();
      if (is_control && std::any_of(others.begin(), others.end(),
                                    [&](std::size_t pair) { return asks(pair, asked.shot); }))
        continue;
      ProbedPair pair{in_book(asked.from), in_book(asked.to), {},
                      asked.cause,         asked.enforcer,    asked.detour};
      ask({asked.shot}, asked.from, asked.to, pair);
      if (pair.shots.empty())
        continue;
      others.push_back(book_.pairs.size());
      book_.pairs.push_back(std::move(pair));
    }
  }

  void add_forgeries() {
    std::map<std::pair<EndId, Address>, EndId> places;
    for (const Forgery& forgery : forgeries(site_, who_, traffic_.canary_port(), options_.seed)) {
      ProbedPair pair{0, in_book(forgery.to), {}, Cause::Rule, forgery.enforcer, forgery.leg};
      ask({forgery.shot}, forgery.sender, forgery.to, pair);
      if (pair.shots.empty())
        continue;
      ProbeEnd from = who_.ends()[forgery.sender];
      from.address = who_.ends()[forgery.claimed].address;
      const auto [place, is_new] =
          places.try_emplace({forgery.sender, from.address}, static_cast<EndId>(book_.ends.size()));
      if (is_new)
        book_.ends.push_back(std::move(from));
      pair.from = place->second;
      book_.pairs.push_back(std::move(pair));
    }
  }

  [[nodiscard]] bool asks(std::size_t pair, const Shot& wanted) const {
    const auto same = [&](const Shot& shot) {
      return shot.expect == wanted.expect && shot.transport == wanted.transport &&
             shot.port == wanted.port;
    };
    const auto& lists = book_.pairs[pair].shots;
    return std::any_of(lists.begin(), lists.end(), [&](std::uint32_t list) {
      return std::any_of(book_.shots[list].begin(), book_.shots[list].end(), same);
    });
  }

  // Only ends that somebody is asked from or at are written.
  EndId in_book(EndId end) {
    EndId& place = place_in_book_[end];
    if (place == kNotInBook) {
      place = static_cast<EndId>(book_.ends.size());
      book_.ends.push_back(who_.ends()[end]);
    }
    return place;
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
      book_.unprobed.push_back({from, to, probed ? "some probes" : "",
                                "left out by --include or --exclude", false, true});
  }

  const Site& site_;
  const PlanOptions& options_;
  ProbeBook book_;
  Representatives who_;
  TrafficMaker traffic_;
  ShotLists lists_;
  std::vector<EndId> place_in_book_;  // of ends of who_
  // Of the cell at hand.
  std::size_t filtered_ = 0;
  std::vector<std::pair<std::string, std::string>> reasons_;
};

}  // namespace

ProbeBook make_probe_book(const Site& site, const PlanOptions& options) {
  return BookMaker(site, options).make();
}

ProbePlan probes_of(const ProbeBook& book) {
  ProbePlan plan{{}, book.unprobed};
  for (const ProbedPair& pair : book.pairs) {
    for (const std::uint32_t list : pair.shots) {
      for (const Shot& shot : book.shots[list]) {
        Probe& probe = plan.probes.emplace_back();
        probe.from = book.ends[pair.from];
        probe.to = book.ends[pair.to];
        probe.transport = shot.transport;
        probe.payload = shot.payload;
        probe.port = shot.port;
        probe.sport = shot.sport;
        probe.size = shot.size;
        probe.expect = shot.expect;
        probe.cause = shot.expect == Expect::Deny ? pair.cause : Cause::None;
        probe.enforcer = pair.enforcer;
        probe.rule = shot.rule;
        probe.detour = pair.detour;
      }
    }
  }
  const auto key = [](const Probe& p) {
    return std::tuple(p.from.cls, p.to.cls, p.transport, p.to.address.family, p.port, p.payload,
                      p.size, p.to.address, p.detour.host);
  };
  std::stable_sort(plan.probes.begin(), plan.probes.end(),
                   [&](const Probe& a, const Probe& b) { return key(a) < key(b); });
  for (std::size_t i = 0; i < plan.probes.size(); ++i)
    plan.probes[i].id = fmt::format("p-{:06}", i + 1);
  return plan;
}

}  // namespace bulkhead::compiler
