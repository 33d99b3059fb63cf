#include "compiler/proof/enforcer_proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/ir.h"
#include "compiler/proof/doubts.h"

namespace bulkhead::compiler::proof {

namespace {

void add_doubt(std::string doubt, EnforcerProof& out) {
  if (std::find(out.doubts.begin(), out.doubts.end(), doubt) == out.doubts.end())
    out.doubts.push_back(std::move(doubt));
}

bool has_vrfs(const Site& site, const EnforcerView& view) {
  const auto& legs = site.inventory.enforcers.at(view.enforcer).legs;
  return std::any_of(legs.begin(), legs.end(),
                     [](const compiler::Leg& leg) { return leg.vrf.has_value(); }) ||
         std::any_of(site.policy.segments.begin(), site.policy.segments.end(),
                     [](const auto& segment) { return segment.second.vrf.has_value(); });
}

void add_doubts(const Site& site, const EnforcerView& view, const Ruleset& ruleset,
                EnforcerProof& out) {
  for (std::string& doubt : doubts(ruleset))
    out.doubts.push_back(std::move(doubt));
  const auto set = zones(ruleset);
  if (!set) {
    out.doubts.emplace_back("conntrack zones are set in a way that the proof does not follow");
    return;
  }
  // Without VRFs nobody needs zones, and the plan need not be made to know that.
  std::map<std::string, std::uint16_t> wanted;
  if (has_vrfs(site, view))
    for (const ir::Leg& leg : ir::make_enforcer(site, view).legs)
      wanted[leg.interface] = leg.zone;
  const auto zone_at = [](const std::map<std::string, std::uint16_t>& known,
                          const std::string& leg) {
    const auto found = known.find(leg);
    return found == known.end() ? std::uint16_t{0} : found->second;
  };
  for (const compiler::Leg& leg : site.inventory.enforcers.at(view.enforcer).legs)
    for (const auto& [direction, known] :
         {std::pair("in by", &set->in), std::pair("out by", &set->out)})
      if (zone_at(*known, leg.interface) != zone_at(wanted, leg.interface))
        out.doubts.push_back(fmt::format(
            "packets {} {} are tracked in zone {}, where zone {} keeps them with their replies",
            direction, leg.interface, zone_at(*known, leg.interface),
            zone_at(wanted, leg.interface)));
}

void decide(const Site& site, const EnforcerView& view, const Ruleset& ruleset,
            const ProofLimits& limits, EnforcerProof& out) {
  Diagrams space(limits.budget);
  Endings endings;
  Symbolic rules(space, endings, ruleset);
  const Intent intent = intend(space, site, view);
  const Naming naming(&site, &view);
  for (const Passage passage : kPassages) {
    const Diagram does = doing(rules, passage);
    const Possible here = possible_for(space, ruleset, passage, does);
    for (const Field field : here.taken_as_zero)
      add_doubt(doubt_about(field), out);
    const Comparison comparison =
        compare(space, endings, passage, here.packets, does, of(intent, passage));
    out.parts.push_back({passage,
                         differences(space, comparison, ruleset, naming, limits.differences),
                         comparison.unknown_share, comparison.translated_share});
    for (const Station& station : stations(passage))
      for (const auto& [a, b] : rules.ambiguous_order(station.family, station.hook))
        add_doubt(fmt::format("{} and {} have one priority, and their order changes the answer",
                              chain_name(ruleset, a), chain_name(ruleset, b)),
                  out);
  }
  std::vector<Differences*> passages;
  for (EnforcerProof::Part& part : out.parts)
    passages.push_back(&part.differences);
  say_whether_harmless(passages);
}

}  // namespace

bool EnforcerProof::holds() const {
  return not_proven.empty() && doubts.empty() &&
         std::all_of(parts.begin(), parts.end(),
                     [](const Part& part) { return part.differences.empty(); });
}

bool EnforcerProof::is_open_question() const {
  if (holds())
    return false;
  return std::all_of(parts.begin(), parts.end(), [](const Part& part) {
    return std::all_of(part.differences.findings.begin(), part.differences.findings.end(),
                       [](const Finding& finding) { return finding.effect == Effect::Unknown; });
  });
}

EnforcerProof prove_enforcer(const Site& site, const EnforcerView& view, const Ruleset& ruleset,
                             const ProofLimits& limits) {
  EnforcerProof out;
  out.enforcer = view.enforcer;
  for (const Chain& chain : ruleset.chains)
    out.rule_count += chain.rules.size();
  for (const Set& set : ruleset.sets)
    out.element_count += set.elements.size();
  add_doubts(site, view, ruleset, out);
  try {
    decide(site, view, ruleset, limits, out);
  } catch (const OutOfBudget& error) {
    out.not_proven = fmt::format("too large to decide: {}", error.what());
  }
  return out;
}

}  // namespace bulkhead::compiler::proof
