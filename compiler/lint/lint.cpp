#include "compiler/lint/lint.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/lint/checks.h"
#include "compiler/lint/rule_lines.h"
#include "compiler/proof/rule_text.h"

namespace bulkhead::compiler::lint {

namespace {

struct Check {
  std::string_view asks;  // for "not decided"
  void (*run)(Context& context, Findings& out);
};
constexpr Check kChecks[] = {
    {"which interfaces there are", interfaces},
    {"which interfaces are gone", dead_interfaces},
    {"which tables are dormant", dormant},
    {"what is outside the model", unmodelled},
    {"what flow tables skip", flowtables},
    {"what next headers hide", next_headers},
    {"which comparisons nft has joined", joined_comparisons},
    {"which sets overlap", sets},
    {"whether the order of equal priorities matters", equal_priorities},
    {"what passes without a rule", hooks},
    {"whether a family is forgotten", families},
    {"what states do", states},
    {"what source ports open", source_ports},
    {"which rules never match", never_matches},
    {"which rules have no effect", without_effect},
    {"what the text says otherwise than it is read", host_bits},
};

void find_reach(Context& context, std::size_t rules, Answer& out) {
  try {
    context.reach = proof::reach(context.space, context.endings, context.rules, context.ruleset,
                                 [&](std::size_t done) {
                                   if (context.options.progress)
                                     context.options.progress(done, rules);
                                 });
  } catch (const proof::OutOfBudget& error) {
    out.not_decided.push_back(fmt::format("what comes to each rule: {}", error.what()));
  }
}

void find_lines(const proof::Ruleset& ruleset, const std::string& text,
                std::vector<Finding>& findings) {
  const RuleLines lines = rule_lines(text);
  for (Finding& finding : findings) {
    if (finding.rule == proof::kNone)
      continue;
    const auto chain = lines.find(proof::chain_name(ruleset, finding.chain));
    // Rules from elsewhere (an include, an insert): which is which cannot be told.
    if (chain != lines.end() && chain->second.size() == ruleset.chains[finding.chain].rules.size())
      finding.line = chain->second[finding.rule];
  }
}

}  // namespace

void add(Findings& out, std::string_view code, Severity severity, std::string place,
         std::string what, std::string todo) {
  Finding finding;
  finding.code = code;
  finding.severity = severity;
  finding.place = std::move(place);
  finding.what = std::move(what);
  finding.todo = std::move(todo);
  out.push_back(std::move(finding));
}

void add_rule(const Context& context, Findings& out, std::string_view code, Severity severity,
              proof::RuleRef ref, std::string what, std::string todo) {
  add(out, code, severity, proof::rule_name(context.ruleset, ref.chain, ref.rule), std::move(what),
      std::move(todo));
  out.back().chain = ref.chain;
  out.back().rule = ref.rule;
}

std::string set_name(const proof::Ruleset& ruleset, proof::Index set) {
  const proof::Set& here = ruleset.sets[set];
  if (here.table == proof::kNone)
    return here.name;
  const proof::Table& table = ruleset.tables[here.table];
  return fmt::format("{} {} {} {}", here.is_map ? "map" : "set", to_string(table.family),
                     table.name, here.name);
}

std::string rules_words(const proof::Chain& chain, const std::vector<proof::Index>& rules) {
  constexpr std::size_t kMost = 4;
  std::string out;
  for (std::size_t i = 0; i < rules.size() && i < kMost; ++i) {
    const std::string& comment = chain.rules[rules[i]].comment;
    out += fmt::format("{}rule {}{}",
                       i == 0                                           ? ""
                       : i + 1 == rules.size() && rules.size() <= kMost ? " and "
                                                                        : ", ",
                       rules[i] + 1, comment.empty() ? "" : " \"" + comment + '"');
  }
  return rules.size() > kMost ? fmt::format("{} and {} more", out, rules.size() - kMost) : out;
}

Answer lint(const proof::Ruleset& ruleset, const Options& options) {
  Answer out;
  for (const proof::Chain& chain : ruleset.chains)
    out.rules += chain.rules.size();
  proof::Diagrams space(options.budget);
  proof::Endings endings;
  proof::Symbolic rules(space, endings, ruleset);
  Context context{ruleset, options, space, endings, rules};
  find_reach(context, out.rules, out);
  for (const Check& check : kChecks) {
    Findings found;
    try {
      check.run(context, found);
    } catch (const proof::OutOfBudget& error) {
      out.not_decided.push_back(fmt::format("{}: {}", check.asks, error.what()));
    }
    out.findings.insert(out.findings.end(), std::make_move_iterator(found.begin()),
                        std::make_move_iterator(found.end()));
  }
  if (!options.text.empty())
    find_lines(ruleset, options.text, out.findings);
  const auto place = [](const Finding& finding) {
    // kNone + 1 is 0: what has no rule comes first.
    return std::pair(finding.chain + 1, finding.rule + 1);
  };
  std::stable_sort(out.findings.begin(), out.findings.end(),
                   [&](const Finding& a, const Finding& b) { return place(a) < place(b); });
  return out;
}

}  // namespace bulkhead::compiler::lint
