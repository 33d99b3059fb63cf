// What the command line calls a ruleset -> rulesets to look at. The one place where `query`, `lint`
// and `diff` read rules:
//
//   site:DIR       what would be compiled, one ruleset for each enforcer; also a path of a folder
//   file:RULESET   in nft's language, or the output of `nft -j list ruleset`; also a plain path
//   live:HOST      what HOST has loaded now, listed by ssh; `live:` and `live:localhost`: this
//   machine
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/support/settings.h"
#include "compiler/proof/ruleset.h"
#include "compiler/site.h"
#include "policy/support/result.h"

namespace bulkhead::cli {

enum class SourceKind { Site, File, Live };

struct SourceName {
  SourceKind kind = SourceKind::File;
  std::string where;  // folder, file, host; empty: this machine
};
// A usage error where the text names none of them.
[[nodiscard]] Result<SourceName> parse_source_name(const std::string& text);

struct SourceRuleset {
  std::string enforcer;  // of a site; empty: it does not say
  std::string rules;     // "compiled", "file x.nft", "live fw-a"
  compiler::proof::Ruleset ruleset;
  bool listing_alone = false;  // only nft's listing was there (scenarios/listing.h)
};

struct RulesetSource {
  SourceName name;
  std::unique_ptr<compiler::Site> site;  // of site:
  std::vector<SourceRuleset> rulesets;   // of site: in the order of its enforcers; else one
};

// `around`, where given, is the site that a file or host belongs to: it knows which interfaces
// there are and how ssh finds the host. Takes --enforcer (of site: only this one), --ssh and --sudo
// from the settings. Rules that cannot be read or listed are an error with the reason, never an
// empty ruleset.
[[nodiscard]] Result<RulesetSource> read_source(const std::string& text, const Settings& settings,
                                                const compiler::Site* around = nullptr);

}  // namespace bulkhead::cli
