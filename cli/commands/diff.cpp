#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cli/commands/verbs.h"
#include "cli/report/ruleset_diff.h"
#include "cli/support/answer.h"
#include "cli/support/ruleset_source.h"
#include "cli/support/site_argument.h"
#include "policy/support/diagnostic.h"

namespace bulkhead::cli {
namespace {

namespace proof = compiler::proof;

constexpr std::size_t kMostDifferences = 64;  // of a finding

struct Sides {
  RulesetSource before, after;
  std::optional<compiler::Site> named_by;  // --site
  // Whose names are used: the later policy's, where there are two.
  [[nodiscard]] const compiler::Site* site() const {
    if (named_by)
      return &*named_by;
    return after.site ? after.site.get() : before.site.get();
  }
};

// A site first: what it knows of interfaces and hosts helps to read the other side.
Status read_sides(const Settings& settings, Sides& sides) {
  if (!settings.site.empty()) {
    Settings of_site = settings;
    of_site.arguments = {settings.site};
    auto site = open_site(of_site);
    if (!site)
      return fail(site.error());
    sides.named_by.emplace(std::move(*site));
  }
  const auto second = parse_source_name(settings.arguments[1]);
  if (!second)
    return fail(second.error());
  const bool second_first = second->kind == SourceKind::Site;
  for (const bool is_second : {second_first, !second_first}) {
    auto read = read_source(settings.arguments[is_second ? 1 : 0], settings, sides.site());
    if (!read)
      return fail(read.error());
    (is_second ? sides.after : sides.before) = std::move(*read);
  }
  return {};
}

// The ruleset of a site that stands where a file or a host stands: --enforcer has chosen, the host
// is a member of one, or there is only one.
Result<const SourceRuleset*> counterpart(const RulesetSource& site, const SourceName& other) {
  std::string known;
  for (const SourceRuleset& ruleset : site.rulesets) {
    const auto& members = site.site->inventory.enforcers.at(ruleset.enforcer).members;
    if (other.kind == SourceKind::Live &&
        std::find(members.begin(), members.end(), other.where) != members.end())
      return &ruleset;
    known += (known.empty() ? "" : ", ") + ruleset.enforcer;
  }
  if (site.rulesets.size() > 1)
    return fail(ErrorKind::Usage,
                fmt::format("say which enforcer stands there: --enforcer with one of {}", known));
  return &site.rulesets.front();
}

const SourceRuleset* find(const RulesetSource& source, const std::string& enforcer) {
  const auto found =
      std::find_if(source.rulesets.begin(), source.rulesets.end(),
                   [&](const SourceRuleset& ruleset) { return ruleset.enforcer == enforcer; });
  return found == source.rulesets.end() ? nullptr : &*found;
}

class Comparer {
 public:
  Comparer(const Settings& settings, const Sides& sides) : settings_(settings), sides_(sides) {
    report_.before = settings.arguments[0];
    report_.after = settings.arguments[1];
    report_.fail_on_opened = settings.fail_on_opened;
    report_.fail_on_closed = settings.fail_on_closed;
  }

  Result<DiffReport> run() {
    const RulesetSource& before = sides_.before;
    const RulesetSource& after = sides_.after;
    if (before.site && after.site) {
      enforcer_by_enforcer();
    } else if (before.site || after.site) {
      const auto chosen =
          before.site ? counterpart(before, after.name) : counterpart(after, before.name);
      if (!chosen)
        return fail(chosen.error());
      if (before.site)
        compare(**chosen, after.rulesets.front());
      else
        compare(before.rulesets.front(), **chosen);
    } else {
      compare(before.rulesets.front(), after.rulesets.front());
    }
    finish(report_);
    return std::move(report_);
  }

 private:
  void enforcer_by_enforcer() {
    for (const SourceRuleset& ruleset : sides_.before.rulesets) {
      if (const SourceRuleset* now = find(sides_.after, ruleset.enforcer))
        compare(ruleset, *now);
      else
        report_.removed.push_back(ruleset.enforcer);
    }
    for (const SourceRuleset& ruleset : sides_.after.rulesets)
      if (find(sides_.before, ruleset.enforcer) == nullptr)
        report_.added.push_back(ruleset.enforcer);
  }

  void compare(const SourceRuleset& before, const SourceRuleset& after) {
    const std::string& enforcer = before.enforcer.empty() ? after.enforcer : before.enforcer;
    const proof::Naming naming(sides_.site(), view_of_enforcer(enforcer));
    report_.parts.push_back({enforcer, before.rules, after.rules,
                             proof::diff(before.ruleset, after.ruleset, naming, kMostDifferences),
                             before.listing_alone || after.listing_alone});
  }

  // Two files may be anybody's: then the site's only enforcer, or the one that --enforcer names.
  const compiler::EnforcerView* view_of_enforcer(const std::string& enforcer) const {
    if (sides_.site() == nullptr)
      return nullptr;
    const auto& views = sides_.site()->coverage.views;
    const std::string& wanted = enforcer.empty() ? settings_.enforcer : enforcer;
    if (wanted.empty() && views.size() == 1)
      return &views.front();
    const auto found =
        std::find_if(views.begin(), views.end(),
                     [&](const compiler::EnforcerView& view) { return view.enforcer == wanted; });
    return found == views.end() ? nullptr : &*found;
  }

  const Settings& settings_;
  const Sides& sides_;
  DiffReport report_;
};

Result<int> run(const Settings& settings) {
  Sides sides;
  if (Status read = read_sides(settings, sides); !read)
    return fail(read.error());
  const auto report = Comparer(settings, sides).run();
  if (!report)
    return fail(report.error());
  const Renderings<DiffReport> renderings{diff_text, diff_json, diff_junit};
  if (Status written = answer(settings, *report, renderings); !written)
    return fail(written.error());
  return report->exit_code;
}

}  // namespace

Verb diff_verb() {
  return {
      .name = "diff",
      .arguments = "BEFORE AFTER",
      .summary = "Which packets pass now that did not before, and which no longer do",
      .details =
          "Each side is site:DIR (what would be compiled), file:RULESET (nft's language or the\n"
          "output of `nft -j list ruleset`) or live:HOST (listed by ssh; live: alone is this\n"
          "machine); a plain path does too. Decided for all packets; each change comes with one\n"
          "packet and the rules that decide about it on both sides. Classes and services give\n"
          "names where a side is a site, or by --site. Nothing is changed anywhere.\n"
          "Exit 0: the same packets pass, or no change is of the kind that --fail-on asks for;\n"
          "1: changes; 4: not decided.",
      .example =
          "  bulkhead diff file:/etc/nftables.conf file:new.nft --site mysite\n"
          "  bulkhead diff live:fw-a site:mysite --fail-on opened\n"
          "  bulkhead diff site:main/mysite site:mysite --format junit -o diff.xml\n",
      .argument_count = 2,
      .options = {"site", "enforcer", "fail-on", "ssh", "sudo", "as-of", "format", "output",
                  "quiet", "verbose", "color"},
      .formats = {"text", "json", "junit"},
      .run = run,
  };
}

}  // namespace bulkhead::cli
