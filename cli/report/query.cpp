#include "cli/report/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/report/packet_json.h"
#include "cli/report/xml.h"
#include "cli/support/exit_code.h"
#include "cli/support/terminal.h"

namespace bulkhead::cli {
namespace {

namespace proof = compiler::proof;
using One = QueryReport::One;
using proof::Outcome;
using proof::Passes;

struct Look {
  std::string_view sign;
  Style style;
};
Look look_of(Passes passes) {
  switch (passes) {
    case Passes::All:
      return {"ALL PASS", Style::Open};
    case Passes::Some:
      return {"SOME PASS", Style::Warning};
    case Passes::No:
      return {"NONE PASSES", Style::Bad};
    case Passes::Unknown:
      break;
  }
  return {"NOT KNOWN", Style::Warning};
}

std::string_view word_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::Accept:
      return "passes";
    case Outcome::Drop:
      return "dropped";
    case Outcome::Reject:
      return "rejected";
    case Outcome::Either:
      return "either";
    case Outcome::Unknown:
      break;
  }
  return "not known";
}

bool is_as_expected(const QueryReport& report, const One& one) {
  if (report.expect.empty() || !one.answer)
    return report.expect.empty();
  return report.expect == "pass" ? one.answer->passes == Passes::All
                                 : one.answer->passes == Passes::No;
}

std::string chain_line(const proof::Ruleset& ruleset, const proof::TraceStep& step) {
  const proof::Chain& chain = ruleset.chains[step.chain];
  std::string out = proof::chain_name(ruleset, step.chain);
  if (chain.base)
    out += fmt::format("  (priority {}, policy {})", chain.base->priority,
                       chain.base->policy_drop ? "drop" : "accept");
  return out;
}

std::string step_line(const proof::QueryStep& step, const proof::Ruleset& ruleset,
                      const View& view) {
  const proof::TraceStep& at = step.step;
  std::string number = at.rule == proof::kNone ? "·" : std::to_string(at.rule + 1);
  std::string out = fmt::format("{:>3}  {}", number, printable(step.rule));
  if (at.rule != proof::kNone) {
    const std::string& comment = ruleset.chains[at.chain].rules[at.rule].comment;
    if (!comment.empty())
      out += paint(" \"" + printable(comment) + '"', Style::Dim, view.color);
  }
  const bool ends =
      at.end == proof::End::Accept || at.end == proof::End::Drop || at.end == proof::End::Reject;
  out += fmt::format("\n{:>5}{} {}: {}", "", ends ? "⇒" : "→", printable(step.verdict),
                     printable(proof::to_string(step.portion)));
  if (at.doubt == proof::Doubt::Chance)
    out += paint("  (a limit or a queue decides)", Style::Warning, view.color);
  if (at.doubt == proof::Doubt::Unknown)
    out += paint("  (not known whether)", Style::Warning, view.color);
  return out;
}

std::string trace_text(const One& one, const View& view) {
  std::string out;
  const proof::QueryStep* before = nullptr;
  for (const proof::QueryStep& step : one.answer->steps) {
    const std::string indent(2 + 5 * step.step.depth, ' ');
    if (before == nullptr || before->step.hook != step.step.hook)
      out +=
          fmt::format("\n  {}\n", paint(proof::to_string(step.step.hook), Style::Bold, view.color));
    if (before == nullptr || before->step.chain != step.step.chain ||
        before->step.hook != step.step.hook) {
      const bool is_back = before != nullptr && before->step.hook == step.step.hook &&
                           before->step.depth > step.step.depth;
      out += indent + (is_back ? "back in " : "") + chain_line(*one.ruleset, step.step) + "\n";
    }
    std::string line = step_line(step, *one.ruleset, view);
    for (std::size_t at = line.find('\n'); at != std::string::npos;
         at = line.find('\n', at + indent.size() + 1))
      line.insert(at + 1, indent);
    out += indent + line + "\n";
    before = &step;
  }
  if (!one.answer->complete)
    out += "  and more: the question is wide; ask for fewer addresses or ports, or with -v\n";
  return out;
}

std::string part_text(const proof::QueryPart& part, const View& view) {
  std::string out = fmt::format("  {:<9}  {}\n", word_of(part.outcome),
                                printable(proof::to_string(part.portion)));
  for (const std::string& rule : part.unknown)
    out += fmt::format("             outside the model: {}\n", printable(rule));
  if (part.example) {
    out += fmt::format(
        "             {}\n",
        paint("for example " + printable(proof::to_string(*part.example)), Style::Dim, view.color));
    for (std::size_t i = 0; i < part.way.size(); ++i)
      if (view.all || i + 3 >= part.way.size())
        out += fmt::format("               {} {}\n", i + 1 == part.way.size() ? "⇒" : "·",
                           paint(printable(part.way[i]), Style::Dim, view.color));
  }
  return out;
}

std::string one_text(const One& one, const View& view) {
  std::string out =
      fmt::format("{}  {}\n", paint(one.title, Style::Bold, view.color), printable(one.asked));
  if (one.listing_alone)
    out +=
        "  Read from a listing alone: nft 1.0.6 leaves some matches out of one (ip6 nexthdr, "
        "iiftype, ether type).\n";
  if (!one.not_decided.empty())
    return out + fmt::format("  {}  {}\n", paint("NOT DECIDED", Style::Warning, view.color),
                             printable(one.not_decided));
  if (!one.answer)
    return out + "  no packet is so\n";
  const Look look = look_of(one.answer->passes);
  out += fmt::format("  {}  {}\n", paint(look.sign, look.style, view.color),
                     proof::to_string(one.answer->question.passage));
  for (const proof::QueryPart& part : one.answer->parts)
    out += part_text(part, view);
  return out + trace_text(one, view);
}

nlohmann::ordered_json portion_json(const proof::Portion& portion) {
  nlohmann::ordered_json parts = nlohmann::ordered_json::array();
  for (const proof::NamedPart& part : portion.parts)
    parts.push_back(words_json(part.families, part.box));
  return {{"all", portion.is_all},
          {"share", static_cast<double>(portion.share)},
          {"parts", std::move(parts)},
          {"complete", portion.complete}};
}

nlohmann::ordered_json one_json(const One& one) {
  nlohmann::ordered_json out{{"rules", printable(one.title)},
                             {"asked", printable(one.asked)},
                             {"listing_alone", one.listing_alone},
                             {"not_decided", printable(one.not_decided)}};
  if (!one.answer)
    return out;
  out["hook"] = proof::to_string(one.answer->question.passage);
  out["passes"] = proof::to_string(one.answer->passes);
  out["parts"] = nlohmann::ordered_json::array();
  for (const proof::QueryPart& part : one.answer->parts) {
    nlohmann::ordered_json row{{"outcome", proof::to_string(part.outcome)},
                               {"portion", portion_json(part.portion)},
                               {"unknown", part.unknown}};
    if (part.example)
      row["example"] = {{"text", printable(proof::to_string(*part.example))},
                        {"exact", part.example->is_exact},
                        {"rules", part.way}};
    out["parts"].push_back(std::move(row));
  }
  out["trace"] = nlohmann::ordered_json::array();
  constexpr std::string_view kDoubts[] = {"none", "chance", "unknown"};
  for (const proof::QueryStep& step : one.answer->steps) {
    nlohmann::ordered_json row{{"hook", proof::to_string(step.step.hook)},
                               {"chain", proof::chain_name(*one.ruleset, step.step.chain)},
                               {"depth", step.step.depth}};
    if (step.step.rule != proof::kNone) {
      const proof::Rule& rule = one.ruleset->chains[step.step.chain].rules[step.step.rule];
      row["rule"] = step.step.rule + 1;
      row["handle"] = rule.handle;
      row["comment"] = printable(rule.comment);
    }
    row["text"] = printable(step.rule);
    row["verdict"] = printable(step.verdict);
    row["doubt"] = kDoubts[static_cast<std::size_t>(step.step.doubt)];
    row["portion"] = portion_json(step.portion);
    out["trace"].push_back(std::move(row));
  }
  out["complete"] = one.answer->complete;
  return out;
}

std::string says(const One& one) {
  if (!one.not_decided.empty())
    return "not decided: " + one.not_decided;
  return one.answer ? std::string(proof::to_string(one.answer->passes)) + " of it passes"
                    : "no packet is so";
}

}  // namespace

int query_exit(const QueryReport& report) {
  int code = kExitOk;
  for (const One& one : report.rulesets) {
    if (!one.not_decided.empty() || (one.answer && one.answer->passes == Passes::Unknown))
      code = std::max(code, kExitInconclusive);
    else if (!is_as_expected(report, one))
      return kExitFindings;
  }
  return code;
}

std::string query_text(const QueryReport& report, const View& view) {
  std::string out;
  for (const One& one : report.rulesets)
    out += one_text(one, view) + "\n";
  const int code = query_exit(report);
  return out + fmt::format("exit {}: {}\n", code,
                           code == kExitOk         ? "answered"
                           : code == kExitFindings ? "not what --expect says"
                                                   : "not known for all of it");
}

std::string query_json(const QueryReport& report) {
  nlohmann::ordered_json rulesets = nlohmann::ordered_json::array();
  for (const One& one : report.rulesets)
    rulesets.push_back(one_json(one));
  const nlohmann::ordered_json json{{"schema", "bulkhead.query/1"},
                                    {"exit", query_exit(report)},
                                    {"expect", report.expect},
                                    {"rulesets", std::move(rulesets)}};
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

// A testcase a ruleset: a failure where it is not as expected, an error where nobody can say.
std::string query_junit(const QueryReport& report) {
  std::string cases;
  unsigned failures = 0, errors = 0;
  for (const One& one : report.rulesets) {
    const bool unknown =
        !one.not_decided.empty() || (one.answer && one.answer->passes == Passes::Unknown);
    const bool failed = !unknown && !is_as_expected(report, one);
    failures += failed ? 1 : 0;
    errors += unknown ? 1 : 0;
    cases += fmt::format("  <testcase classname=\"query\" name=\"{}: {}\"", xml_escape(one.title),
                         xml_escape(one.asked));
    if (failed || unknown)
      cases += fmt::format("><{0} message=\"{1}\"/></testcase>\n", failed ? "failure" : "error",
                           xml_escape(says(one)));
    else
      cases += "/>\n";
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"bulkhead query\" "
      "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"0\">\n{}</testsuite>\n",
      report.rulesets.size(), failures, errors, cases);
}

}  // namespace bulkhead::cli
