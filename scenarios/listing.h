// Where rules to look at come from: a text, a file, a host, this machine. The kernel and nft are
// the parser; nothing is changed anywhere. What cannot be listed is an error, never "no rules".
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compiler/proof/ruleset.h"
#include "compiler/site.h"
#include "policy/support/result.h"

namespace bulkhead::scenarios {

struct Listing {
  std::string rules;  // what it is of, for people: "file x.nft", "live fw-a"
  std::string json;
  // What the kernel's own rules look at; empty: only nft's listing was there, and matches that nft
  // 1.0.6 leaves out of one (compiler/proof/rule_loads.h) cannot be seen to be missing.
  std::string loads;
  std::string text{};  // as nft lists it in its own language, of files: what reports quote
  // Loaded here for the listing's sake: numbers of interfaces are those of another machine.
  bool from_text = false;
  // Tables with `flags dormant`, "ip old", which are not in the JSON: they do nothing.
  std::vector<std::string> dormant{};
};

// Loads the text into a throw-away namespace that has these interfaces.
[[nodiscard]] Result<Listing> list_text(const std::string& rules, const std::string& nft_text,
                                        const std::vector<std::string>& interfaces);
// A file in nft's language, or the output of `nft -j list ruleset`.
[[nodiscard]] Result<Listing> list_file(const std::string& path,
                                        const std::vector<std::string>& interfaces);
// A ruleset compiled for one of site.coverage.views, with the rules of others that its enforcer has
// in the inventory.
[[nodiscard]] Result<Listing> list_with_foreign(const compiler::Site& site,
                                                const compiler::EnforcerView& view,
                                                const std::string& compiled);
[[nodiscard]] Result<Listing> list_compiled(const compiler::Site& site,
                                            const compiler::EnforcerView& view);
// What is loaded on a host. `ssh_command` empty: the default of live audits.
struct HostAccess {
  std::vector<std::string> ssh_command;
  bool sudo = false;
};
[[nodiscard]] Result<Listing> list_host(const std::string& host, const std::string& destination,
                                        const HostAccess& access);
// What is loaded in a network namespace of this machine; "": the caller's own.
[[nodiscard]] Result<Listing> list_here(const std::string& rules, const std::string& netns_path);

// Rules that are not what their listing says are marked so.
[[nodiscard]] Result<compiler::proof::Ruleset> ruleset_of(const Listing& listing);

[[nodiscard]] std::vector<std::string> interfaces_of(const compiler::Enforcer& enforcer);
// Names that the text uses where nft wants an interface that exists (iif, oif, device).
[[nodiscard]] std::vector<std::string> interfaces_in(const std::string& nft_text);

[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path);

}  // namespace bulkhead::scenarios
