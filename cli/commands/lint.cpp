#include <fmt/format.h>
#include <net/if.h>

#include "cli/commands/verbs.h"
#include "cli/report/lint.h"
#include "cli/support/answer.h"
#include "cli/support/progress.h"
#include "cli/support/query_question.h"
#include "cli/support/ruleset_source.h"
#include "cli/support/site_argument.h"
#include "scenarios/listing.h"

namespace bulkhead::cli {
namespace {

namespace lint = compiler::lint;

std::set<std::string> interfaces_here() {
  std::set<std::string> names;
  struct if_nameindex* const list = if_nameindex();
  for (const struct if_nameindex* one = list; one != nullptr && one->if_index != 0; ++one)
    names.insert(one->if_name);
  if_freenameindex(list);
  return names;
}

bool is_this_machine(const SourceName& name) {
  return name.kind == SourceKind::Live && (name.where.empty() || name.where == "localhost");
}

// Which interfaces there are, where somebody knows.
void know_interfaces(const compiler::Site* site, const std::string& enforcer,
                     const SourceName& name, lint::Options& out) {
  if (const compiler::EnforcerView* view = find_view(site, enforcer)) {
    const auto legs = scenarios::interfaces_of(site->inventory.enforcers.at(view->enforcer));
    out.interfaces.emplace(legs.begin(), legs.end());
    out.whose = "legs of " + view->enforcer;
  } else if (is_this_machine(name)) {
    out.interfaces = interfaces_here();
    out.whose = "interfaces of this machine";
  }
}

// What was asked not to be told, counted: a code that is misspelt shows as none.
void leave_out(const std::vector<std::string>& codes, LintReport::One& one) {
  for (const std::string& code : codes)
    one.ignored[code] = std::erase_if(
        one.answer.findings, [&](const lint::Finding& finding) { return finding.code == code; });
}

Result<int> run(const Settings& settings) {
  std::optional<compiler::Site> around;
  if (!settings.site.empty()) {
    Settings of_site = settings;
    of_site.arguments = {settings.site};
    auto site = open_site(of_site);
    if (!site)
      return fail(site.error());
    around.emplace(std::move(*site));
  }
  auto source = read_source(settings.arguments.front(), settings, around ? &*around : nullptr);
  if (!source)
    return fail(source.error());
  const compiler::Site* site = source->site ? source->site.get() : around ? &*around : nullptr;
  if (around && !settings.enforcer.empty() && find_view(site, settings.enforcer) == nullptr)
    return fail(ErrorKind::Usage, fmt::format("no enforcer `{}` is managed by bulkhead in {}",
                                              settings.enforcer, settings.site));

  LintReport report;
  Progress progress(!settings.quiet);
  for (const SourceRuleset& ruleset : source->rulesets) {
    LintReport::One one;
    const std::string& enforcer = ruleset.enforcer.empty() ? settings.enforcer : ruleset.enforcer;
    one.title = ruleset.enforcer.empty() ? ruleset.rules : ruleset.enforcer + ": " + ruleset.rules;
    one.ruleset = &ruleset.ruleset;
    one.listing_alone = ruleset.listing_alone;
    lint::Options options;
    know_interfaces(site, enforcer, source->name, options);
    options.has_policy = site != nullptr;
    // A listing has no lines that anybody wrote.
    if (source->name.kind == SourceKind::File && !ruleset.listing_alone) {
      auto text = scenarios::read_file(source->name.where);
      if (!text)
        return fail(text.error());
      options.text = std::move(*text);
      one.file = source->name.where;
    }
    progress.stage("lint");
    options.progress = [&](std::size_t done, std::size_t rules) { progress.update(done, rules); };
    one.answer = lint::lint(ruleset.ruleset, options);
    // Of a file without rules a listing lacks nothing.
    one.listing_alone = one.listing_alone && one.answer.rules > 0;
    leave_out(settings.ignore, one);
    report.rulesets.push_back(std::move(one));
  }
  progress.clear();
  const Renderings<LintReport> renderings{lint_text, lint_json, lint_junit};
  if (Status written = answer(settings, report, renderings); !written)
    return fail(written.error());
  return lint_exit(report);
}

}  // namespace

Verb lint_verb() {
  return {
      .name = "lint",
      .arguments = "RULESET",
      .summary = "Find rules that never match, and what else is wrong with a ruleset",
      .details =
          "RULESET is site:DIR (what would be compiled), file:PATH (nft's language or its JSON\n"
          "listing) or live:HOST (`live:` is this machine); a plain path is a folder or a file.\n"
          "Rules that nothing reaches and what shadows them, rules without effect, hooks that\n"
          "fail open, forgotten families, elements that overlap, interfaces that are not there.\n"
          "\"Never matches\" is said only where it is so for every packet; docs/lint.md tells\n"
          "each finding. Exit 0: none but notes; 1: findings; 4: too large to decide.",
      .example =
          "  bulkhead lint /etc/nftables.conf\n"
          "  bulkhead lint live:\n"
          "  bulkhead lint old.nft --site mysite --enforcer fw --format json\n",
      .options = {"site", "enforcer", "ignore", "ssh", "sudo", "as-of", "format", "output", "quiet",
                  "verbose", "color"},
      .formats = {"text", "json", "junit"},
      .run = run,
  };
}

}  // namespace bulkhead::cli
