#include "cli/support/ruleset_source.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "cli/support/site_argument.h"
#include "policy/support/text.h"
#include "scenarios/listing.h"
#include "scenarios/ssh_destination.h"

namespace bulkhead::cli {
namespace {

struct Prefix {
  std::string_view text;
  SourceKind kind;
};
constexpr Prefix kPrefixes[] = {
    {"site:", SourceKind::Site}, {"file:", SourceKind::File}, {"live:", SourceKind::Live}};

bool is_folder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

Result<SourceRuleset> read(std::string enforcer, const Result<scenarios::Listing>& listing) {
  if (!listing)
    return fail(listing.error());
  auto ruleset = scenarios::ruleset_of(*listing);
  if (!ruleset)
    return fail(ruleset.error());
  return SourceRuleset{std::move(enforcer), listing->rules, std::move(*ruleset),
                       listing->loads.empty()};
}

Status read_site(const Settings& settings, RulesetSource& out) {
  Settings of_this = settings;
  of_this.arguments = {out.name.where};
  auto site = open_site(of_this);
  if (!site)
    return fail(site.error());
  out.site = std::make_unique<compiler::Site>(std::move(*site));
  std::string known;
  for (const compiler::EnforcerView& view : out.site->coverage.views) {
    known += (known.empty() ? "" : ", ") + view.enforcer;
    if (!settings.enforcer.empty() && settings.enforcer != view.enforcer)
      continue;
    auto one = read(view.enforcer, scenarios::list_compiled(*out.site, view));
    if (!one)
      return fail(one.error().context(view.enforcer));
    out.rulesets.push_back(std::move(*one));
  }
  if (out.rulesets.empty())
    return fail(
        ErrorKind::Usage,
        known.empty()
            ? fmt::format("{}: the site has no enforcer that bulkhead manages", out.name.where)
            : fmt::format("{}: no enforcer `{}` is managed by bulkhead here; known are: {}",
                          out.name.where, printable(settings.enforcer), known));
  return {};
}

std::vector<std::string> interfaces_around(const compiler::Site* site) {
  std::set<std::string> names;
  if (site != nullptr)
    for (const compiler::EnforcerView& view : site->coverage.views)
      for (auto& name : scenarios::interfaces_of(site->inventory.enforcers.at(view.enforcer)))
        names.insert(std::move(name));
  return {names.begin(), names.end()};
}

Result<scenarios::Listing> list_live(const std::string& host, const Settings& settings,
                                     const compiler::Site* around) {
  if (host.empty() || host == "localhost")
    return scenarios::list_here("live localhost", "");
  const std::string destination =
      around == nullptr ? host : scenarios::ssh_destination(around->inventory, host);
  return scenarios::list_host(host, destination, {settings.ssh, settings.sudo});
}

}  // namespace

Result<SourceName> parse_source_name(const std::string& text) {
  for (const Prefix& prefix : kPrefixes) {
    if (!text.starts_with(prefix.text))
      continue;
    SourceName name{prefix.kind, text.substr(prefix.text.size())};
    if (name.where.empty() && name.kind != SourceKind::Live)
      return fail(ErrorKind::Usage, fmt::format("`{}` names nothing behind the colon", text));
    return name;
  }
  if (text.empty())
    return fail(ErrorKind::Usage, "a ruleset is named site:DIR, file:RULESET or live:HOST");
  if (is_folder(text))
    return SourceName{SourceKind::Site, text};
  std::error_code error;
  if (std::filesystem::exists(text, error))
    return SourceName{SourceKind::File, text};
  return fail(ErrorKind::Usage,
              fmt::format("`{}` is no file and no folder; a ruleset is named site:DIR, "
                          "file:RULESET or live:HOST",
                          printable(text)));
}

Result<RulesetSource> read_source(const std::string& text, const Settings& settings,
                                  const compiler::Site* around) {
  auto name = parse_source_name(text);
  if (!name)
    return fail(name.error());
  RulesetSource out;
  out.name = std::move(*name);
  if (out.name.kind == SourceKind::Site) {
    if (Status all = read_site(settings, out); !all)
      return fail(all.error());
    return out;
  }
  auto one = read({}, out.name.kind == SourceKind::File
                          ? scenarios::list_file(out.name.where, interfaces_around(around))
                          : list_live(out.name.where, settings, around));
  if (!one)
    return fail(one.error());
  out.rulesets.push_back(std::move(*one));
  return out;
}

}  // namespace bulkhead::cli
