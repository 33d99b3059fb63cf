#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/verbs.h"
#include "cli/report/query.h"
#include "cli/support/answer.h"
#include "cli/support/exit_code.h"
#include "cli/support/query_question.h"
#include "cli/support/ruleset_source.h"
#include "cli/support/site_argument.h"

namespace bulkhead::cli {
namespace {

namespace proof = compiler::proof;

// The question in words, as it was understood.
std::string words_of(const Settings& settings, const proof::Question& question) {
  std::string out;
  const auto add = [&](const std::string& text) { out += (out.empty() ? "" : " ") + text; };
  if (settings.traffic) {
    const auto kind = settings.traffic->kind;
    std::string what(policy::to_string(kind));
    if (policy::has_ports(kind))
      what += settings.port == settings.last_port
                  ? fmt::format(" {}", settings.port)
                  : fmt::format(" {}-{}", settings.port, settings.last_port);
    if (kind == policy::Kind::Icmp)
      what += fmt::format(" {}", policy::kIcmpQueries[settings.port].name);
    add(what);
  }
  if (!settings.proto.empty())
    add(fmt::format("protocol {}", fmt::join(settings.proto, ", ")));
  if (!settings.sport.empty())
    add(fmt::format("from port {}", fmt::join(settings.sport, ", ")));
  if (!settings.from.empty())
    add("from " + settings.from);
  if (!settings.to.empty())
    add("to " + settings.to);
  if (!question.in.empty())
    add(fmt::format("in by {}", fmt::join(question.in, ", ")));
  if (!question.out.empty())
    add(fmt::format("out by {}", fmt::join(question.out, ", ")));
  if (out.empty())
    out = "everything";
  return out + (settings.state.empty() ? ", new connections" : ", state " + settings.state);
}

QueryReport::One ask(const Settings& settings, const SourceRuleset& source,
                     const proof::Question& question, const compiler::Site* site,
                     const compiler::EnforcerView* view) {
  QueryReport::One one;
  one.title = source.enforcer.empty() ? source.rules : source.enforcer + ": " + source.rules;
  one.asked = words_of(settings, question);
  one.ruleset = &source.ruleset;
  one.listing_alone = source.listing_alone;
  proof::QueryLimits limits;
  if (settings.verbose)
    limits = {64, 100'000};
  try {
    proof::Diagrams space;
    one.answer = proof::query(space, source.ruleset, question, proof::Naming(site, view), limits);
  } catch (const proof::OutOfBudget& error) {
    one.not_decided = fmt::format("too large to decide: {}", error.what());
  }
  return one;
}

Result<int> run(const Settings& settings) {
  if (!settings.expect.empty() && settings.expect != "pass" && settings.expect != "block")
    return fail(ErrorKind::Usage, "--expect: say pass or block");
  std::optional<compiler::Site> around;
  if (!settings.site.empty()) {
    Settings of_site = settings;
    of_site.arguments = {settings.site};
    auto site = open_site(of_site);
    if (!site)
      return fail(site.error());
    around = std::move(*site);
  }
  auto source = read_source(settings.arguments.front(), settings, around ? &*around : nullptr);
  if (!source)
    return fail(source.error());
  const compiler::Site* site = source->site ? source->site.get() : around ? &*around : nullptr;

  QueryReport report;
  report.expect = settings.expect;
  for (const SourceRuleset& ruleset : source->rulesets) {
    const std::string& enforcer = ruleset.enforcer.empty() ? settings.enforcer : ruleset.enforcer;
    const auto question = question_of(settings, site, find_view(site, enforcer));
    if (!question)
      return fail(question.error());
    report.rulesets.push_back(ask(settings, ruleset, *question, site, find_view(site, enforcer)));
  }
  if (std::none_of(report.rulesets.begin(), report.rulesets.end(),
                   [](const auto& one) { return one.answer || !one.not_decided.empty(); }))
    return fail(ErrorKind::Usage,
                "no packet is so: the addresses are of different families, or the interfaces "
                "are not those of this hook");
  const Renderings<QueryReport> renderings{query_text, query_json, query_junit};
  if (Status written = answer(settings, report, renderings); !written)
    return fail(written.error());
  return query_exit(report);
}

}  // namespace

Verb query_verb() {
  return {
      .name = "query",
      .arguments = "RULESET",
      .summary = "Say which packets of a kind pass a ruleset, and by which rules",
      .details =
          "RULESET is site:DIR (what would be compiled), file:PATH (nft's language or its JSON\n"
          "listing) or live:HOST (`live:` is this machine); a plain path is a folder or a file.\n"
          "The packets asked for are walked through all chains of the hook at once: which rule\n"
          "takes which part of them. What the options leave open may be anything; addresses are\n"
          "addresses, prefixes, ranges, lists of them and, of a site, classes and hosts.\n"
          "Exit 0: answered; 1: not what --expect says; 4: a rule outside the model decides.",
      .example =
          "  bulkhead query /etc/nftables.conf --from 10.1.0.0/16 --to 10.2.0.2 --tcp 22\n"
          "  bulkhead query site:scenarios/two-tenants --from red --to blue --tcp 22\n"
          "  bulkhead query live: --hook input --in eth0 --tcp 1-1024 --expect block\n",
      .options = {"from",   "to",    "tcp",      "udp",  "sctp", "icmp",  "ip",
                  "roce",   "proto", "sport",    "in",   "out",  "hook",  "state",
                  "expect", "site",  "enforcer", "ssh",  "sudo", "as-of", "format",
                  "output", "quiet", "verbose",  "color"},
      .formats = {"text", "json", "junit"},
      .run = run,
  };
}

}  // namespace bulkhead::cli
