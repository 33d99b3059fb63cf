// `[[never]]` is an assertion: an allow that crosses it is an error that shows both lines. Open
// segments allow too.
#include <algorithm>

#include <fmt/format.h>

#include "policy/matrix.h"
#include "policy/support/text.h"
#include "policy/validate_parts.h"

namespace bulkhead::policy {

namespace {

class NeverCheck {
 public:
  NeverCheck(const FlowCheck& check, const Never& never)
      : check_(check),
        never_(never),
        n_(check.universe.classes.size()),
        forbidden_(n_ * n_),
        traffic_(traffic_of(never.services, check.policy)) {
    const std::vector<ClassId> to_side = check.selections.of(never.to);
    for (const ClassId from : check.selections.of(never.from)) {
      for (const ClassId to : to_side)
        forbidden_[from * n_ + to] =
            is_pair(check.universe, from, to) && !is_excepted(never, check.universe, from, to);
    }
  }

  void check(const LiveFlow& live) {
    if (!never_.services.empty() && !overlap(live.traffic, traffic_))
      return;
    const Crossings crossed = crossings(live);
    if (crossed.pairs == 0)
      return;
    const auto& [from, to] = crossed.first;
    auto& error = check_.diagnostics.error(
        "never-crossed",
        named_at(live.flow->to, crossed.is_reverse ? from : to, *live.flow, check_.selections),
        fmt::format("flow {} allows {}{}, which never {} rules out", in_backticks(live.flow->id),
                    arrow(from, to), and_pairs_more(crossed.pairs), in_backticks(never_.id)),
        never_.except.empty()
            ? "narrow the flow, or give the never an `except`"
            : fmt::format("narrow the flow, or widen `except`, now {}", exceptions()));
    error.related.push_back({never_.at, said()});
  }

  // Members of an open segment reach each other without any flow.
  void check_open_segments() {
    const Segment* told = nullptr;
    for (ClassId from = 0; from < n_; ++from) {
      const Segment* segment = open_segment(from);
      if (!segment || segment == told)
        continue;
      for (ClassId to = 0; to < n_; ++to) {
        if (!forbidden_[from * n_ + to] || open_segment(to) != segment)
          continue;
        auto& error = check_.diagnostics.error(
            "never-crossed", segment->at,
            fmt::format("segment {} is open inside and so allows {}, which never {} rules out",
                        in_backticks(segment->name), arrow(from, to), in_backticks(never_.id)),
            "say inside = \"isolated\", or except \"same-tenant\"");
        error.related.push_back({never_.at, said()});
        told = segment;
        break;
      }
    }
  }

 private:
  struct Crossings {
    std::pair<ClassId, ClassId> first;
    bool is_reverse = false;  // `first`, of a flow both_ways
    std::size_t pairs = 0;
  };

  [[nodiscard]] Crossings crossings(const LiveFlow& live) const {
    Crossings out;
    const auto add = [&](ClassId from, ClassId to, bool is_reverse) {
      if (!forbidden_[from * n_ + to])
        return;
      if (out.pairs++ == 0) {
        out.first = {from, to};
        out.is_reverse = is_reverse;
      }
    };
    for (const ClassId from : live.from) {
      for (const ClassId to : live.to) {
        add(from, to, false);
        if (live.flow->both_ways)
          add(to, from, true);
      }
    }
    return out;
  }
  [[nodiscard]] const Segment* open_segment(ClassId id) const {
    const Class& cls = check_.universe.classes[id];
    if (cls.kind != ClassKind::Endpoint && cls.kind != ClassKind::Behind)
      return nullptr;
    const auto segment = check_.policy.segments.find(cls.place);
    return segment != check_.policy.segments.end() && segment->second.inside == Inside::Open
               ? &segment->second
               : nullptr;
  }
  [[nodiscard]] std::string arrow(ClassId from, ClassId to) const {
    return fmt::format("{} -> {}", in_backticks(check_.universe.classes[from].name),
                       in_backticks(check_.universe.classes[to].name));
  }
  [[nodiscard]] std::string exceptions() const {
    std::vector<std::string> words;
    for (const Never::Except& except : never_.except)
      words.push_back(except.same_tenant ? "same-tenant" : except.selector.str());
    return fmt::format("{}", fmt::join(words, ", "));
  }
  [[nodiscard]] std::string said() const {
    return never_.why.empty() ? "the never is here"
                              : fmt::format("the never is here: {}", in_backticks(never_.why));
  }

  const FlowCheck& check_;
  const Never& never_;
  std::size_t n_;
  std::vector<bool> forbidden_;  // [from * n_ + to]
  std::vector<Traffic> traffic_;
};

}  // namespace

void check_nevers(const FlowCheck& check) {
  for (const Never& never : check.policy.nevers) {
    NeverCheck one(check, never);
    for (const LiveFlow& live : check.flows) {
      if (live.flow->action == Action::Allow)
        one.check(live);
    }
    one.check_open_segments();
  }
}

}  // namespace bulkhead::policy
