// What the command line asks about a ruleset -> a Question: addresses, classes and hosts, ports,
// interfaces, states.
#pragma once

#include "cli/support/settings.h"
#include "compiler/proof/question.h"
#include "compiler/site.h"
#include "policy/support/result.h"

namespace bulkhead::cli {

// Addresses, prefixes and ranges, separated by commas; with a site also its classes and hosts.
// "any": everything, which is empty.
[[nodiscard]] Result<AddressSet> find_addresses(std::string_view text, const compiler::Site* site);

// Null where there is no site, or no such enforcer of ours in it; of a site with one enforcer
// `name` may be empty.
[[nodiscard]] const compiler::EnforcerView* find_view(const compiler::Site* site,
                                                      std::string_view name);

// Both may be null: then nothing has a name. A class brings along the interfaces of the view by
// which it comes and goes, where --in and --out say nothing.
[[nodiscard]] Result<compiler::proof::Question> question_of(const Settings& settings,
                                                            const compiler::Site* site,
                                                            const compiler::EnforcerView* view);

}  // namespace bulkhead::cli
