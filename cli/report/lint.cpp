#include "cli/report/lint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "cli/report/xml.h"
#include "cli/support/exit_code.h"
#include "cli/support/terminal.h"
#include "compiler/proof/rule_text.h"

namespace bulkhead::cli {
namespace {

namespace proof = compiler::proof;
using compiler::lint::Finding;
using One = LintReport::One;

struct Look {
  std::string_view word;
  Style style;
};
Look look_of(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return {"error", Style::Bad};
    case Severity::Warning:
      return {"warning", Style::Warning};
    case Severity::Note:
      break;
  }
  return {"note", Style::Note};
}

std::string rule_of(const One& one, const Finding& finding) {
  return finding.rule == proof::kNone
             ? ""
             : proof::rule_text(*one.ruleset,
                                one.ruleset->chains[finding.chain].rules[finding.rule]);
}

std::uint64_t handle_of(const One& one, const Finding& finding) {
  return one.ruleset->chains[finding.chain].rules[finding.rule].handle;
}

// "x.nft:12: inet filter forward, rule 3"; without a line the handle that nft -a shows.
std::string place_of(const One& one, const Finding& finding) {
  if (finding.line != 0)
    return fmt::format("{}:{}: {}", one.file, finding.line, finding.place);
  return finding.rule == proof::kNone
             ? finding.place
             : fmt::format("{} (handle {})", finding.place, handle_of(one, finding));
}

std::string finding_text(const One& one, const Finding& finding, const View& view) {
  const Look look = look_of(finding.severity);
  std::string out =
      fmt::format("{}: {}: {} [{}]\n", printable(place_of(one, finding)),
                  paint(look.word, look.style, view.color), printable(finding.what), finding.code);
  if (const std::string rule = rule_of(one, finding); !rule.empty())
    out += fmt::format("    {}\n", paint(printable(rule), Style::Dim, view.color));
  return out + fmt::format("    hint: {}\n", printable(finding.todo));
}

using Counts = std::array<std::size_t, 3>;
Counts count(const std::vector<Finding>& findings) {
  Counts counts{};
  for (const Finding& finding : findings)
    ++counts[static_cast<std::size_t>(finding.severity)];
  return counts;
}

std::string counted(std::size_t count, std::string_view word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

std::string one_text(const One& one, const View& view) {
  std::string out;
  // Errors first; of one kind in order of the ruleset.
  for (const Severity severity : {Severity::Error, Severity::Warning, Severity::Note})
    for (const Finding& finding : one.answer.findings)
      if (finding.severity == severity)
        out += finding_text(one, finding, view);
  if (one.listing_alone)
    out +=
        "Read from a listing alone: nft 1.0.6 leaves some matches out of one (ip6 nexthdr, "
        "iiftype, ether type).\n";
  for (const std::string& what : one.answer.not_decided)
    out +=
        fmt::format("{}  {}\n", paint("NOT DECIDED", Style::Warning, view.color), printable(what));
  for (const auto& [code, findings] : one.ignored)
    out += fmt::format("ignored: {} [{}]\n", counted(findings, "finding"), printable(code));
  const Counts counts = count(one.answer.findings);
  return out + fmt::format("{}: {}, {}, {}, {}\n", paint(one.title, Style::Bold, view.color),
                           counted(one.answer.rules, "rule"), counted(counts[0], "error"),
                           counted(counts[1], "warning"), counted(counts[2], "note"));
}

nlohmann::ordered_json finding_json(const One& one, const Finding& finding) {
  nlohmann::ordered_json out{{"code", finding.code},
                             {"severity", look_of(finding.severity).word},
                             {"place", printable(finding.place)}};
  if (finding.chain != proof::kNone)
    out["chain"] = printable(proof::chain_name(*one.ruleset, finding.chain));
  if (finding.rule != proof::kNone) {
    out["rule"] = finding.rule + 1;
    out["handle"] = handle_of(one, finding);
    out["text"] = printable(rule_of(one, finding));
  }
  if (finding.line != 0) {
    out["file"] = printable(one.file);
    out["line"] = finding.line;
  }
  out["what"] = printable(finding.what);
  out["todo"] = printable(finding.todo);
  return out;
}

}  // namespace

int lint_exit(const LintReport& report) {
  int code = kExitOk;
  for (const One& one : report.rulesets) {
    const Counts counts = count(one.answer.findings);
    if (counts[0] + counts[1] > 0)
      return kExitFindings;
    if (!one.answer.not_decided.empty())
      code = kExitInconclusive;
  }
  return code;
}

std::string lint_text(const LintReport& report, const View& view) {
  std::string out;
  for (const One& one : report.rulesets)
    out += one_text(one, view);
  const int code = lint_exit(report);
  return out + fmt::format("exit {}: {}\n", code,
                           code == kExitOk         ? "nothing to mend"
                           : code == kExitFindings ? "findings"
                                                   : "not all checks were decided");
}

std::string lint_json(const LintReport& report) {
  nlohmann::ordered_json rulesets = nlohmann::ordered_json::array();
  for (const One& one : report.rulesets) {
    nlohmann::ordered_json findings = nlohmann::ordered_json::array();
    for (const Finding& finding : one.answer.findings)
      findings.push_back(finding_json(one, finding));
    rulesets.push_back({{"rules", printable(one.title)},
                        {"count", one.answer.rules},
                        {"listing_alone", one.listing_alone},
                        {"ignored", one.ignored},
                        {"not_decided", one.answer.not_decided},
                        {"findings", std::move(findings)}});
  }
  const nlohmann::ordered_json json{{"schema", "bulkhead.lint/1"},
                                    {"exit", lint_exit(report)},
                                    {"rulesets", std::move(rulesets)}};
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

// A testcase a finding: errors and warnings fail, notes are skipped; a ruleset without findings is
// one that passes.
std::string lint_junit(const LintReport& report) {
  std::string cases;
  std::size_t tests = 0, failures = 0, errors = 0, skipped = 0;
  const auto add = [&](const One& one, std::string_view name, std::string_view inner) {
    ++tests;
    cases += fmt::format("  <testcase classname=\"lint.{}\" name=\"{}\"", xml_escape(one.title),
                         xml_escape(name));
    cases += inner.empty() ? "/>\n" : fmt::format(">{}</testcase>\n", inner);
  };
  for (const One& one : report.rulesets) {
    for (const Finding& finding : one.answer.findings) {
      const bool is_note = finding.severity == Severity::Note;
      (is_note ? skipped : failures) += 1;
      add(one, fmt::format("{}: {}", finding.code, place_of(one, finding)),
          is_note ? fmt::format("<skipped message=\"{}\"/>", xml_escape(finding.what))
                  : fmt::format("<failure type=\"{}\" message=\"{}\"/>", finding.code,
                                xml_escape(finding.what + "; " + finding.todo)));
    }
    for (const std::string& what : one.answer.not_decided) {
      ++errors;
      add(one, "not decided", fmt::format("<error message=\"{}\"/>", xml_escape(what)));
    }
    if (one.answer.findings.empty() && one.answer.not_decided.empty())
      add(one, "nothing to mend", "");
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"bulkhead lint\" tests=\"{}\" "
      "failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n{}</testsuite>\n",
      tests, failures, errors, skipped, cases);
}

}  // namespace bulkhead::cli
