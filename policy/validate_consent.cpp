// A flow that a tenant's file writes to or from somebody else needs an offer of that side: written
// in the root file or in the other tenant's.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "policy/support/text.h"
#include "policy/validate_parts.h"

namespace bulkhead::policy {

namespace {

// An offer with its names resolved. One with a name that nothing has might offer anything: that
// mistake has been told, and is not told again for every flow that relies on it.
struct OpenOffer {
  const Offer* offer = nullptr;
  std::vector<bool> from, to;  // by ClassId
  std::vector<Traffic> traffic;
  bool is_unread = false;  // a service of it is unknown
  bool is_used = false;
};

std::vector<bool> members(const std::vector<ClassId>& ids, std::size_t classes) {
  std::vector<bool> out(classes);
  for (const ClassId id : ids)
    out[id] = true;
  return out;
}

std::vector<bool> side_of(const std::vector<Selector>& selectors, const FlowCheck& check) {
  const std::size_t n = check.universe.classes.size();
  const bool is_unread = std::any_of(
      selectors.begin(), selectors.end(),
      [](const Selector& selector) { return selector.what == Selector::What::Unresolved; });
  return is_unread ? std::vector<bool>(n, true) : members(check.selections.of(selectors), n);
}

std::vector<OpenOffer> open_offers(const FlowCheck& check) {
  std::vector<OpenOffer> out;
  for (const Offer& offer : check.policy.offers) {
    const bool is_unread = std::any_of(
        offer.services.begin(), offer.services.end(),
        [&](const Name& service) { return !check.policy.services.contains(service.text); });
    out.push_back({&offer, side_of(offer.from, check), side_of(offer.to, check),
                   traffic_of(offer.services, check.policy), is_unread});
  }
  return out;
}

class ConsentCheck {
 public:
  explicit ConsentCheck(const FlowCheck& check) : check_(check), offers_(open_offers(check)) {}

  void check(const LiveFlow& live) {
    std::optional<Missing> first;
    std::size_t pairs = 0;
    const auto add = [&](const Missing& missing) {
      first = first.value_or(missing);
      ++pairs;
    };
    for (const ClassId from : live.from) {
      for (const ClassId to : live.to) {
        if (!is_agreed(live, from, to, live.traffic))
          add({from, to, false});
        if (live.flow->both_ways && !is_agreed(live, to, from, directed(live.traffic)))
          add({to, from, true});
      }
    }
    if (first)
      report(live, *first, pairs);
  }

  void note_unused() const {
    for (const OpenOffer& open : offers_)
      if (!open.is_used)
        check_.diagnostics.note("unused-offer", open.offer->at,
                                "this offer is not used: no flow of a tenant's file needs it");
  }

 private:
  struct Missing {
    ClassId from = 0, to = 0;
    bool reverse = false;  // of a flow both_ways
  };

  // Partition keys know no direction, so consent to `ib` one way is consent to both.
  static std::vector<Traffic> directed(std::vector<Traffic> traffic) {
    std::erase_if(traffic, [](const Traffic& term) {
      return term.key.kind == Kind::Ib || term.key.kind == Kind::GpuDirect;
    });
    return traffic;
  }

  // What no packet between the two can be needs no consent: RoCE between partitions.
  static void drop_uncarried(std::vector<Traffic>& traffic, Carriers common) {
    std::erase_if(traffic, [&](const Traffic& term) {
      return term.key.kind == Kind::Roce && (carriers(term.key, 0) & common) == 0;
    });
  }

  [[nodiscard]] bool is_agreed(const LiveFlow& live, ClassId from, ClassId to,
                               std::vector<Traffic> traffic) {
    const std::string& author = live.flow->authority;
    const bool own_from = check_.universe.classes[from].tenant == author;
    const bool own_to = check_.universe.classes[to].tenant == author;
    // Neither its own: check_authority() has told.
    if (own_from == own_to || !is_pair(check_.universe, from, to))
      return true;
    const std::string& other = check_.universe.classes[own_from ? to : from].tenant;
    drop_uncarried(traffic, static_cast<Carriers>(carriers(check_.universe.classes[from]) &
                                                  carriers(check_.universe.classes[to])));
    for (OpenOffer& open : offers_) {
      const std::string& offerer = open.offer->authority;
      if ((!offerer.empty() && offerer != other) || !open.from[from] || !open.to[to])
        continue;
      if (open.is_unread)
        return open.is_used = true;
      std::vector<Traffic> left = without(traffic, open.traffic);
      open.is_used |= left != traffic;
      traffic = std::move(left);
    }
    return traffic.empty();
  }

  void report(const LiveFlow& live, const Missing& missing, std::size_t pairs) {
    const auto [from, to, reverse] = missing;
    const std::string& source = check_.universe.classes[from].name;
    const std::string& destination = check_.universe.classes[to].name;
    const bool own_from = check_.universe.classes[from].tenant == live.flow->authority;
    const std::string& other = check_.universe.classes[own_from ? to : from].tenant;
    check_.diagnostics.error(
        "no-consent",
        named_at(own_from != reverse ? live.flow->to : live.flow->from, own_from ? to : from,
                 *live.flow, check_.selections),
        fmt::format("flow {} of tenant {} needs consent to {} -> {}{}{}",
                    in_backticks(live.flow->id), in_backticks(live.flow->authority),
                    in_backticks(source), in_backticks(destination), reverse ? " (both_ways)" : "",
                    and_pairs_more(pairs)),
        fmt::format("an [[offer]] that covers from, to and all services, in {}",
                    other.empty() ? "policy.toml"
                                  : fmt::format("policy.toml or the file of tenant {}",
                                                in_backticks(other))));
  }

  const FlowCheck& check_;
  std::vector<OpenOffer> offers_;
};

}  // namespace

void check_consent(const FlowCheck& check) {
  ConsentCheck consent(check);
  for (const LiveFlow& live : check.flows) {
    // A deny asks nobody: either side may refuse.
    if (!live.flow->authority.empty() && live.flow->action == Action::Allow)
      consent.check(live);
  }
  if (!check.diagnostics.has_errors())
    consent.note_unused();
}

}  // namespace bulkhead::policy
