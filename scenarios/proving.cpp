#include "scenarios/proving.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "compiler/ir.h"
#include "compiler/proof/rule_loads.h"
#include "compiler/proof/ruleset_json.h"
#include "compiler/targets/nftables.h"
#include "enforcement/backends/nft.h"
#include "enforcement/backends/nft_sandbox.h"
#include "probes/launcher.h"
#include "scenarios/ssh_destination.h"

namespace bulkhead::scenarios {

namespace {

namespace proof = compiler::proof;
using compiler::EnforcerView;

Result<std::string> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file)
    return fail(ErrorKind::Usage, fmt::format("cannot read {}", path.string()));
  return text.str();
}

struct Listing {
  std::string rules;  // as EnforcerProof::rules
  std::string json;
  std::string loads;  // empty: not known
};

std::vector<std::string> interfaces_of(const compiler::Enforcer& enforcer) {
  std::vector<std::string> names;
  for (const compiler::Leg& leg : enforcer.legs)
    names.push_back(leg.interface);
  return names;
}

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
          return fail(proven.error().context(listing.rules + " of " + view->enforcer));
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
      case RulesOf::Compiled: {
        std::string text;
        for (const auto& file : enforcer.foreign) {
          auto foreign = read_file(site_.folder / file.text);
          if (!foreign)
            return fail(foreign.error());
          text += *foreign + '\n';
        }
        text += compiler::nftables(compiler::ir::make_enforcer(site_, view)).text;
        return one(loaded("compiled", text, enforcer));
      }
      case RulesOf::File: {
        auto text = read_file(options_.file);
        if (!text)
          return fail(text.error());
        const std::string name = "file " + options_.file;
        const auto begin = text->find_first_not_of(" \t\r\n");
        if (begin != std::string::npos && (*text)[begin] == '{' &&
            text->find("\"nftables\"") != std::string::npos)
          return std::vector{Listing{name, std::move(*text), {}}};
        return one(loaded(name, *text, enforcer));
      }
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

  static Result<Listing> loaded(const std::string& name, const std::string& text,
                                const compiler::Enforcer& enforcer) {
    auto listed = enforcement::list_in_sandbox(text, interfaces_of(enforcer));
    if (!listed)
      return fail(listed.error().context("load " + name));
    return Listing{name, std::move(listed->json), std::move(listed->loads)};
  }

  Result<std::vector<Listing>> live(const compiler::Enforcer& enforcer) const {
    probes::SshOptions ssh;
    if (!options_.ssh_command.empty())
      ssh.ssh_command = options_.ssh_command;
    std::vector<Listing> out;
    for (const std::string& member : enforcer.members) {
      const auto nft =
          enforcement::ssh_nft(ssh.ssh_command, ssh_destination(site_.inventory, member),
                               options_.sudo ? "sudo -n " : "");
      auto json = nft->list_json();
      if (!json)
        return fail(json.error().context("list the rules of " + member));
      out.push_back({"live " + member, std::move(*json), {}});
    }
    return out;
  }

  Result<EnforcerProof> prove(const EnforcerView& view, const Listing& listing) const {
    auto ruleset = proof::parse_ruleset(listing.json);
    if (!ruleset)
      return fail(ruleset.error());
    if (!listing.loads.empty())
      proof::mark_unfaithful(*ruleset, listing.loads);
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
    const proof::Naming naming(&site_);
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
                     [](const Part& part) { return part.differences.list.empty(); });
}

bool EnforcerProof::is_open_question() const {
  if (holds())
    return false;
  return std::all_of(parts.begin(), parts.end(), [](const Part& part) {
    return std::all_of(part.differences.list.begin(), part.differences.list.end(),
                       [](const proof::Difference& difference) {
                         return difference.effect == proof::Effect::Unknown;
                       });
  });
}

Result<std::vector<EnforcerProof>> prove(const compiler::Site& site,
                                         const ProvingOptions& options) {
  return Prover(site, options).run();
}

}  // namespace bulkhead::scenarios
