#include "scenarios/proving.h"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/listing.h"
#include "scenarios/ssh_destination.h"

namespace bulkhead::scenarios {

namespace {

namespace proof = compiler::proof;
using compiler::EnforcerView;

class Prover {
 public:
  Prover(const compiler::Site& site, const ProvingOptions& options)
      : site_(site), options_(options) {}

  Result<std::vector<EnforcerProof>> run() {
    auto views = wanted_views();
    if (!views)
      return fail(views.error());
    std::vector<EnforcerProof> out;
    for (const EnforcerView* view : *views) {
      auto listings = listings_of(*view);
      if (!listings)
        return fail(listings.error());
      for (const Listing& listing : *listings) {
        auto proven = prove(*view, listing);
        if (!proven)
          return fail(proven.error().context(view->enforcer));
        out.push_back(std::move(*proven));
      }
    }
    return out;
  }

 private:
  Result<std::vector<const EnforcerView*>> wanted_views() const {
    std::vector<const EnforcerView*> out;
    std::string known;
    for (const EnforcerView& view : site_.coverage.views) {
      known += (known.empty() ? "" : ", ") + view.enforcer;
      if (options_.enforcer.empty() || options_.enforcer == view.enforcer)
        out.push_back(&view);
    }
    if (out.empty())
      return fail(ErrorKind::Usage,
                  options_.enforcer.empty()
                      ? std::string("the site has no enforcer that bulkhead manages")
                      : fmt::format("no enforcer `{}` is managed by bulkhead here; known are: {}",
                                    options_.enforcer, known));
    if (options_.rules == RulesOf::File && out.size() > 1)
      return fail(ErrorKind::Usage,
                  fmt::format("say whose place the file takes: --enforcer with one of {}", known));
    return out;
  }

  Result<std::vector<Listing>> listings_of(const EnforcerView& view) const {
    const compiler::Enforcer& enforcer = site_.inventory.enforcers.at(view.enforcer);
    switch (options_.rules) {
      case RulesOf::Compiled:
        return one(list_compiled(site_, view));
      case RulesOf::File:
        return one(list_file(options_.file, interfaces_of(enforcer)));
      case RulesOf::Live:
        break;
    }
    return live(enforcer);
  }

  static Result<std::vector<Listing>> one(Result<Listing> listing) {
    if (!listing)
      return fail(listing.error());
    return std::vector{std::move(*listing)};
  }

  Result<std::vector<Listing>> live(const compiler::Enforcer& enforcer) const {
    std::vector<Listing> out;
    for (const std::string& member : enforcer.members) {
      auto listing = list_host(member, ssh_destination(site_.inventory, member),
                               {options_.ssh_command, options_.sudo});
      if (!listing)
        return fail(listing.error());
      out.push_back(std::move(*listing));
    }
    return out;
  }

  Result<EnforcerProof> prove(const EnforcerView& view, const Listing& listing) const {
    auto ruleset = ruleset_of(listing);
    if (!ruleset)
      return fail(ruleset.error());
    EnforcerProof out;
    out.enforcer = view.enforcer;
    out.rules = listing.rules;
    out.listing_alone = listing.loads.empty();
    for (const proof::Chain& chain : ruleset->chains)
      out.rule_count += chain.rules.size();
    for (const proof::Set& set : ruleset->sets)
      out.element_count += set.elements.size();
    try {
      decide(view, *ruleset, out);
    } catch (const proof::OutOfBudget& error) {
      out.not_proven = fmt::format("too large to decide: {}", error.what());
    }
    return out;
  }

  void decide(const EnforcerView& view, const proof::Ruleset& ruleset, EnforcerProof& out) const {
    proof::Diagrams space(options_.budget);
    proof::Endings endings;
    proof::Symbolic rules(space, endings, ruleset);
    const proof::Intent intent = proof::intend(space, site_, view);
    const proof::Naming naming(&site_, &view);
    for (const proof::Passage passage : proof::kPassages) {
      const proof::Comparison comparison =
          proof::compare(space, endings, passage, proof::possible(space, ruleset, passage),
                         proof::doing(rules, passage), proof::of(intent, passage));
      out.parts.push_back({passage,
                           proof::differences(space, comparison, ruleset, naming, options_.limit),
                           comparison.unknown_share});
      for (const proof::Station& station : proof::stations(passage))
        for (const auto& [a, b] : rules.ambiguous_order(station.family, station.hook))
          add_ambiguous(ruleset, a, b, out);
    }
  }

  static void add_ambiguous(const proof::Ruleset& ruleset, proof::Index a, proof::Index b,
                            EnforcerProof& out) {
    const std::string text =
        fmt::format("{} and {} have one priority, and their order changes the answer",
                    proof::chain_name(ruleset, a), proof::chain_name(ruleset, b));
    if (std::find(out.ambiguous.begin(), out.ambiguous.end(), text) == out.ambiguous.end())
      out.ambiguous.push_back(text);
  }

  const compiler::Site& site_;
  const ProvingOptions& options_;
};

}  // namespace

bool EnforcerProof::holds() const {
  return not_proven.empty() && ambiguous.empty() &&
         std::all_of(parts.begin(), parts.end(),
                     [](const Part& part) { return part.differences.empty(); });
}

bool EnforcerProof::is_open_question() const {
  if (holds())
    return false;
  return std::all_of(parts.begin(), parts.end(), [](const Part& part) {
    return std::all_of(
        part.differences.findings.begin(), part.differences.findings.end(),
        [](const proof::Finding& finding) { return finding.effect == proof::Effect::Unknown; });
  });
}

Result<std::vector<EnforcerProof>> prove(const compiler::Site& site,
                                         const ProvingOptions& options) {
  return Prover(site, options).run();
}

}  // namespace bulkhead::scenarios
