// Selections that came out empty, and what cannot run between the classes that a flow names.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "policy/support/text.h"
#include "policy/validate_parts.h"

namespace bulkhead::policy {

namespace {

constexpr Carriers kIb = static_cast<Carriers>(Carrier::Ib);
constexpr Carriers kV4 = static_cast<Carriers>(Carrier::V4);
constexpr Carriers kV6 = static_cast<Carriers>(Carrier::V6);

class SelectionCheck {
 public:
  SelectionCheck(const Universe& universe, Selections& selections, Diagnostics& diagnostics)
      : labels_(universe.known_labels.begin(), universe.known_labels.end()),
        selections_(selections),
        diagnostics_(diagnostics),
        after_errors_(diagnostics.has_errors()) {
    std::sort(labels_.begin(), labels_.end());
  }
  // A selector that many flows share is told once, where it is first written.
  void check(const std::vector<Selector>& selectors) {
    for (const Selector& selector : selectors) {
      if (selector.what != Selector::What::Unresolved && selections_.of(selector).empty() &&
          seen_.insert(selector.str()).second)
        report(selector);
    }
  }

 private:
  void report(const Selector& selector) {
    const bool known = selector.label.empty() ||
                       std::binary_search(labels_.begin(), labels_.end(), selector.label);
    // A misspelt segment or tenant leaves others without members: that is told already.
    if (known && after_errors_)
      return;
    if (selector.label.empty()) {
      diagnostics_.warning(
          "empty-selection", selector.at,
          fmt::format("{} has no members: it names nobody", in_backticks(selector.str())));
    } else if (known) {
      diagnostics_.warning("empty-selection", selector.at,
                           fmt::format("nobody in {} carries the label {}",
                                       in_backticks(selector.name), in_backticks(selector.label)));
    } else {
      diagnostics_.error("unknown-label", selector.at,
                         fmt::format("no host of the inventory carries the label {}",
                                     in_backticks(selector.label)),
                         did_you_mean(selector.label, labels_));
    }
  }

  std::vector<std::string_view> labels_;
  Selections& selections_;
  Diagnostics& diagnostics_;
  bool after_errors_;
  std::set<std::string> seen_;
};

// The distinct sets of carriers among the classes of one side: at most eight.
std::set<Carriers> carriers_of(const std::vector<ClassId>& side, const Universe& universe) {
  std::set<Carriers> out;
  for (const ClassId id : side) {
    if (const Carriers one = carriers(universe.classes[id]); one != 0)
      out.insert(one);
  }
  return out;
}

Carriers all_of(const std::set<Carriers>& side) {
  Carriers out = 0;
  for (const Carriers one : side)
    out = static_cast<Carriers>(out | one);
  return out;
}

// Over what any packet can go between a class of one side and one of the other.
Carriers common_of(const std::set<Carriers>& from, const std::set<Carriers>& to) {
  Carriers out = 0;
  for (const Carriers source : from) {
    for (const Carriers destination : to)
      out = static_cast<Carriers>(out | (source & destination));
  }
  return out;
}

Carriers needs_of(const Service& service) {
  Carriers out = 0;
  for (const Traffic& term : service.terms) {
    for (const PortRange& range : term.ports) {
      out = static_cast<Carriers>(out | carriers(term.key, range.first));
      if (term.key.kind != Kind::Icmp)
        break;  // only ICMP queries differ in their families
    }
  }
  return out;
}

void check_service_on(const LiveFlow& live, const Name& name, Carriers ends, Carriers common,
                      const FlowCheck& check) {
  const auto service = check.policy.services.find(name.text);
  if (service == check.policy.services.end())
    return;
  const Carriers needs = needs_of(service->second);
  if ((needs & common) != 0 || needs == 0)
    return;
  if ((needs & ends) == 0) {
    check.diagnostics.error(
        "wrong-carrier", name.at,
        fmt::format("service {} cannot run between the ends of flow {}", in_backticks(name.text),
                    in_backticks(live.flow->id)),
        needs == kIb ? "`ib` runs between InfiniBand partitions: name those, not segments"
                     : "it runs over IP: name segments, not partitions");
    return;
  }
  if (check.diagnostics.has_errors())
    return;  // it may be that an address could not be read
  check.diagnostics.warning(
      "no-common-family", name.at,
      fmt::format("service {} of flow {} carries nothing: no family has members on both sides",
                  in_backticks(name.text), in_backticks(live.flow->id)));
}

// A v4-only side does not become "any" in v6: there is no rule in that family, and this says so.
void note_one_family(const LiveFlow& live, const std::set<Carriers>& from,
                     const std::set<Carriers>& to, Diagnostics& diagnostics) {
  const auto families = [](Carriers set) { return static_cast<Carriers>(set & (kV4 | kV6)); };
  const Carriers common = families(common_of(from, to));
  if ((common != kV4 && common != kV6) || families(all_of(from)) == families(all_of(to)))
    return;
  const std::vector<Selector>& narrow =
      families(all_of(from)) == common ? live.flow->from : live.flow->to;
  diagnostics.note(
      "one-family",
      narrow.empty() || narrow.front().at.line == 0 ? live.flow->at : narrow.front().at,
      fmt::format("flow {} runs over {} alone: one of its sides has no {} members",
                  in_backticks(live.flow->id), to_string(common == kV4 ? Family::V4 : Family::V6),
                  to_string(common == kV4 ? Family::V6 : Family::V4)));
}

// Members of an enforcer share its addresses: what is sent to one of those never leaves the member.
void warn_of_itself(const LiveFlow& live, const FlowCheck& check) {
  if (live.from.size() != 1 || live.from != live.to)
    return;
  const Class& self = check.universe.classes[live.from.front()];
  if (self.kind != ClassKind::Enforcer)
    return;
  if (!self.has_peers) {
    check.diagnostics.warning(
        "to-itself", live.flow->at,
        fmt::format("flow {} carries nothing: enforcer {} has no other member",
                    in_backticks(live.flow->id), in_backticks(self.place)));
    return;
  }
  const auto is_to_group = [](const Traffic& term) {
    return term.key.kind == Kind::Ip && term.key.group;
  };
  if (!std::all_of(live.traffic.begin(), live.traffic.end(), is_to_group))
    check.diagnostics.warning(
        "to-itself", live.flow->at,
        fmt::format("of flow {} only what is sent to a group reaches the other member of {}: they "
                    "have the same addresses",
                    in_backticks(live.flow->id), in_backticks(self.place)),
        "`ip` with `to`, as VRRP has it");
}

using Pairs = std::set<std::pair<ClassId, ClassId>>;

bool is_partition(const FlowCheck& check, ClassId id) {
  return check.universe.classes[id].kind == ClassKind::Partition;
}

void add_ib_pairs(const FlowCheck& check, const LiveFlow& live, Pairs& pairs) {
  for (const ClassId from : live.from) {
    for (const ClassId to : live.to) {
      if (!is_partition(check, from) || !is_partition(check, to))
        continue;
      pairs.emplace(from, to);
      if (live.flow->both_ways)
        pairs.emplace(to, from);
    }
  }
}

}  // namespace

void check_selections(const Policy& policy, const Universe& universe, Selections& selections,
                      Diagnostics& diagnostics) {
  SelectionCheck check(universe, selections, diagnostics);
  for (const Flow& flow : policy.flows) {
    check.check(flow.from);
    check.check(flow.to);
  }
  for (const Offer& offer : policy.offers) {
    check.check(offer.from);
    check.check(offer.to);
  }
  for (const Never& never : policy.nevers) {
    check.check(never.from);
    check.check(never.to);
    for (const Never::Except& except : never.except) {
      if (!except.same_tenant)
        check.check({except.selector});
    }
  }
}

void check_carriers(const FlowCheck& check) {
  for (const LiveFlow& live : check.flows) {
    const auto from = carriers_of(live.from, check.universe);
    const auto to = carriers_of(live.to, check.universe);
    if (from.empty() || to.empty())
      continue;
    const Carriers ends = static_cast<Carriers>(all_of(from) | all_of(to));
    for (const Name& name : live.flow->services)
      check_service_on(live, name, ends, common_of(from, to), check);
    note_one_family(live, from, to, check.diagnostics);
    warn_of_itself(live, check);
  }
}

void check_ib_direction(const FlowCheck& check) {
  const auto has_ib = [](const LiveFlow& live) {
    return std::any_of(live.traffic.begin(), live.traffic.end(),
                       [](const Traffic& term) { return term.key.kind == Kind::Ib; });
  };
  Pairs allowed, denied;
  for (const LiveFlow& live : check.flows) {
    if (has_ib(live))
      add_ib_pairs(check, live, live.flow->action == Action::Allow ? allowed : denied);
  }
  for (const auto& pair : denied)
    allowed.erase(pair);
  for (const LiveFlow& live : check.flows) {
    if (live.flow->action != Action::Allow || !has_ib(live))
      continue;
    Pairs mine;
    add_ib_pairs(check, live, mine);
    const auto one_way = std::find_if(mine.begin(), mine.end(), [&](const auto& pair) {
      return allowed.contains(pair) && !allowed.contains({pair.second, pair.first});
    });
    if (one_way == mine.end())
      continue;
    check.diagnostics.error(
        "ib-one-way", live.flow->at,
        fmt::format("flow {} allows {} to reach {} over InfiniBand, but not the other way: "
                    "partition keys cannot express a direction",
                    in_backticks(live.flow->id),
                    in_backticks(check.universe.classes[one_way->first].name),
                    in_backticks(check.universe.classes[one_way->second].name)),
        "say `both_ways = true`, or allow the other direction too");
  }
}

}  // namespace bulkhead::policy
