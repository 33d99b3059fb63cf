// A deny beats an allow. An allow that denies leave nothing of is a line that does nothing, and its
// author should know. One that keeps a part is how exceptions are written, and is no finding.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "policy/support/text.h"
#include "policy/validate_parts.h"

namespace bulkhead::policy {

namespace {

class HiddenCheck {
 public:
  explicit HiddenCheck(const FlowCheck& check)
      : check_(check), by_from_(check.universe.classes.size()) {
    for (const LiveFlow& live : check.flows) {
      if (live.flow->action != Action::Deny)
        continue;
      for (const ClassId from : live.from)
        by_from_[from].push_back({&live, false});
      for (const ClassId to : live.to) {
        if (live.flow->both_ways)
          by_from_[to].push_back({&live, true});
      }
    }
  }

  void check(const LiveFlow& live) {
    if (live.from.empty() || live.to.empty() || live.traffic.empty())
      return;
    std::set<const LiveFlow*> hiding;
    for (const ClassId from : live.from) {
      for (const ClassId to : live.to) {
        if (!is_hidden(from, to, live.traffic, hiding))
          return;
        if (live.flow->both_ways && !is_hidden(to, from, live.traffic, hiding))
          return;
      }
    }
    report(live, hiding);
  }

 private:
  struct Denier {
    const LiveFlow* live;
    bool reversed;
  };

  bool is_hidden(ClassId from, ClassId to, std::vector<Traffic> left,
                 std::set<const LiveFlow*>& hiding) const {
    for (const auto& [deny, reversed] : by_from_[from]) {
      const auto& targets = reversed ? deny->from : deny->to;
      if (!std::binary_search(targets.begin(), targets.end(), to) || !overlap(left, deny->traffic))
        continue;
      left = without(left, deny->traffic);
      hiding.insert(deny);
      if (left.empty())
        return true;
    }
    return false;
  }

  void report(const LiveFlow& live, const std::set<const LiveFlow*>& hiding) {
    std::vector<const Flow*> denies;
    for (const LiveFlow* deny : hiding)
      denies.push_back(deny->flow);
    std::sort(denies.begin(), denies.end(),
              [](const Flow* a, const Flow* b) { return a->at < b->at; });
    std::vector<std::string> ids;
    for (const Flow* deny : denies)
      ids.push_back(in_backticks(deny->id));
    auto& warning =
        check_.diagnostics.warning("hidden-allow", live.flow->at,
                                   fmt::format("flow {} allows nothing: all of it is denied by {}",
                                               in_backticks(live.flow->id), fmt::join(ids, ", ")),
                                   "a deny beats an allow, whatever their order");
    for (const Flow* deny : denies)
      warning.related.push_back(
          {deny->at, fmt::format("flow {} denies it here", in_backticks(deny->id))});
  }

  const FlowCheck& check_;
  std::vector<std::vector<Denier>> by_from_;
};

}  // namespace

void check_hidden(const FlowCheck& check) {
  HiddenCheck hidden(check);
  for (const LiveFlow& live : check.flows) {
    if (live.flow->action == Action::Allow)
      hidden.check(live);
  }
}

}  // namespace bulkhead::policy
