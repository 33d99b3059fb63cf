#include "scenarios/proving.h"

#include <fmt/format.h>

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
    EnforcerProof out = proof::prove_enforcer(site_, view, *ruleset, options_.limits);
    out.rules = listing.rules;
    out.listing_alone = listing.loads.empty();
    return out;
  }

  const compiler::Site& site_;
  const ProvingOptions& options_;
};

}  // namespace

Result<std::vector<EnforcerProof>> prove(const compiler::Site& site,
                                         const ProvingOptions& options) {
  return Prover(site, options).run();
}

}  // namespace bulkhead::scenarios
