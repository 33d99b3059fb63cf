#include "cli/report/ruleset_diff.h"

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
using proof::ChangeKind;
using Part = DiffReport::Part;

struct Look {
  std::string_view sign;
  std::string_view means;
  Style style;
  bool opens, closes;
};
Look look_of(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::Opens:
      return {"OPENS", "stopped before, and passes now", Style::Bad, true, false};
    case ChangeKind::MayOpen:
      return {"MAY OPEN", "a limit or a queue decides now", Style::Bad, true, false};
    case ChangeKind::Closes:
      return {"CLOSES", "passed before, and is stopped now", Style::Warning, false, true};
    case ChangeKind::MayClose:
      return {"MAY CLOSE", "a limit or a queue decides now", Style::Warning, false, true};
    case ChangeKind::Redirects:
      return {"REDIRECTS", "passes on both sides, translated otherwise", Style::Bad, true, true};
    case ChangeKind::Unknown:
      return {"UNKNOWN", "a rule outside the model decides", Style::Warning, false, false};
  }
  return {"", "", Style::Plain, false, false};
}

std::string families_word(const std::vector<Family>& families) {
  if (families.size() > 1)
    return "IPv4 and IPv6";
  return families.front() == Family::V4 ? "IPv4" : "IPv6";
}

// Differences of a finding that are shown without -v.
constexpr std::size_t kShown = 3;
constexpr std::size_t kShownBeside = 1;  // of what is not between classes
std::size_t shown_of(const proof::Finding& finding, const View& view) {
  const bool first = finding.subject <= proof::Subject::Classes;
  return view.all ? finding.differences.size()
                  : std::min(finding.differences.size(), first ? kShown : kShownBeside);
}

// "red → storage: nfs (tcp 2049)  (IPv4; in by bond0.101)"
std::string one_line(const proof::Finding& finding, const proof::Difference& one) {
  std::string more = families_word(one.families);
  for (const std::string* part : {&one.box.state, &one.box.interfaces, &one.box.others})
    if (!part->empty() && !(part == &one.box.state && finding.begins))
      more += "; " + *part;
  return printable(
      fmt::format("{} → {}: {}  ({})", one.box.from, one.box.to, one.box.traffic, more));
}

std::string way_text(std::string_view side, const std::vector<std::string>& rules,
                     const View& view) {
  std::string out;
  for (std::size_t i = 0; i < rules.size(); ++i)
    if (view.all || i + 1 >= rules.size())
      out += fmt::format("        {:<6}  {}\n", out.empty() ? side : "",
                         paint(printable(rules[i]), Style::Dim, view.color));
  return out.empty() ? fmt::format("        {:<6}  no rule sees it\n", side) : out;
}

std::string change_text(const std::string& enforcer, const proof::RulesetChange& change,
                        const View& view) {
  const proof::Finding& finding = change.what;
  const Look look = look_of(change.kind);
  const std::string title =
      finding.subject == proof::Subject::Any ? "" : proof::title(finding.subject, enforcer);
  std::string out =
      fmt::format("  {}  {}{}{}: {}\n", paint(look.sign, look.style, view.color),
                  proof::to_string(finding.passage), title.empty() ? "" : ": ", title, look.means);
  const std::size_t shown = shown_of(finding, view);
  for (std::size_t i = 0; i < shown; ++i) {
    const proof::Difference& one = finding.differences[i];
    out += fmt::format("      {}\n        for example {}\n", one_line(finding, one),
                       printable(proof::to_string(one.example)));
    if (!one.example.is_exact) {  // its way says nothing of the packets it stands for
      out += fmt::format("        after   {}\n", printable(finding.causes.front()));
      continue;
    }
    out += way_text("before", change.rules_before[i], view);
    out += way_text("after", one.rules, view);
  }
  if (const std::size_t more = finding.differences.size() - shown; more > 0 || !finding.complete)
    out += fmt::format("      and {}{} more{}\n", finding.complete ? "" : "at least ",
                       more + (finding.complete ? 0 : 1), view.all ? "" : " (-v shows them)");
  return out;
}

std::string part_text(const Part& part, const View& view) {
  std::string out =
      fmt::format("{}{}{} → {}\n", paint(printable(part.enforcer), Style::Bold, view.color),
                  part.enforcer.empty() ? "" : "  ", printable(part.before), printable(part.after));
  if (part.listing_alone)
    out +=
        "  Of a side only a listing was there: nft 1.0.6 leaves some matches out of one (ip6 "
        "nexthdr, iiftype, ether type).\n";
  for (const proof::PassageDiff& passage : part.diff.passages) {
    if (passage.changes.empty() && part.diff.not_decided.empty())
      out +=
          fmt::format("  {}  {}: the same packets pass\n", paint("EQUAL", Style::Good, view.color),
                      proof::to_string(passage.passage));
    for (const proof::RulesetChange& change : passage.changes)
      out += change_text(part.enforcer, change, view);
  }
  for (const std::string& doubt : part.diff.doubts)
    out += fmt::format("  {}  {}\n", paint("DOUBT", Style::Warning, view.color), printable(doubt));
  if (!part.diff.not_decided.empty())
    out += fmt::format("  {}  {}\n", paint("NOT DECIDED", Style::Warning, view.color),
                       printable(part.diff.not_decided));
  return out;
}

nlohmann::ordered_json change_json(const proof::RulesetChange& change) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < change.what.differences.size(); ++i) {
    nlohmann::ordered_json one = difference_json(change.what.differences[i]);
    one["rules_before"] = change.rules_before[i];
    one["rules_after"] = change.what.differences[i].rules;
    list.push_back(std::move(one));
  }
  return {{"change", proof::to_string(change.kind)},
          {"passage", proof::to_string(change.what.passage)},
          {"subject", proof::to_string(change.what.subject)},
          {"causes", change.what.causes},
          {"begins_connections", change.what.begins},
          {"differences", std::move(list)},
          {"complete", change.what.complete}};
}

// A failure where --fail-on asks for such changes, an error where it is not decided.
std::string outcome_xml(const DiffReport& report, const Part& part,
                        const proof::PassageDiff& passage) {
  std::string failures, unknown;
  for (const proof::RulesetChange& change : passage.changes) {
    const Look look = look_of(change.kind);
    std::string line;
    for (const proof::Difference& one : change.what.differences)
      line += fmt::format("{} {}; for example {}\n", look.sign, one_line(change.what, one),
                          proof::to_string(one.example));
    if (change.kind == ChangeKind::Unknown)
      unknown += line;
    else if ((look.opens && report.fail_on_opened) || (look.closes && report.fail_on_closed))
      failures += line;
  }
  for (const std::string& doubt : part.diff.doubts)
    unknown += doubt + "\n";
  if (!failures.empty())
    return fmt::format("<failure message=\"changed\">{}</failure>", xml_escape(failures + unknown));
  if (!unknown.empty())
    return fmt::format("<error message=\"not decided\">{}</error>", xml_escape(unknown));
  return {};
}

}  // namespace

void finish(DiffReport& report) {
  report.opened = report.removed.size();
  report.closed = report.added.size();
  report.redirected = report.open_questions = 0;
  bool fails =
      (report.fail_on_opened && report.opened > 0) || (report.fail_on_closed && report.closed > 0);
  for (const Part& part : report.parts) {
    report.open_questions += part.diff.doubts.size() + (part.diff.not_decided.empty() ? 0 : 1);
    for (const proof::PassageDiff& passage : part.diff.passages)
      for (const proof::RulesetChange& change : passage.changes) {
        const Look look = look_of(change.kind);
        const bool redirects = change.kind == ChangeKind::Redirects;
        report.opened += look.opens && !redirects ? 1 : 0;
        report.closed += look.closes && !redirects ? 1 : 0;
        report.redirected += redirects ? 1 : 0;
        report.open_questions += change.kind == ChangeKind::Unknown ? 1 : 0;
        fails |= (look.opens && report.fail_on_opened) || (look.closes && report.fail_on_closed);
      }
  }
  std::string counted = fmt::format("{} opened, {} closed", report.opened, report.closed);
  if (report.redirected > 0)
    counted += fmt::format(", {} redirected", report.redirected);
  if (report.open_questions > 0)
    counted += fmt::format(", {} not known", report.open_questions);
  if (fails) {
    report.exit_code = kExitFindings;
    report.conclusion = counted;
  } else if (report.open_questions > 0) {
    report.exit_code = kExitInconclusive;
    report.conclusion = fmt::format("not decided ({})", counted);
  } else {
    report.exit_code = kExitOk;
    report.conclusion = report.opened + report.closed + report.redirected == 0
                            ? "the same packets pass"
                            : counted + "; none of a kind that --fail-on asks for";
  }
}

std::string diff_text(const DiffReport& report, const View& view) {
  std::string out;
  for (const std::string& name : report.removed)
    out += fmt::format("{}  enforcer {}: only before, in {}\n",
                       paint("REMOVED", Style::Bad, view.color), printable(name),
                       printable(report.before));
  for (const std::string& name : report.added)
    out += fmt::format("{}  enforcer {}: only after, in {}\n",
                       paint("ADDED", Style::Warning, view.color), printable(name),
                       printable(report.after));
  for (const Part& part : report.parts)
    out += part_text(part, view) + "\n";
  return out + fmt::format("exit {}: {}\n", report.exit_code, report.conclusion);
}

std::string diff_json(const DiffReport& report) {
  nlohmann::ordered_json parts = nlohmann::ordered_json::array();
  for (const Part& part : report.parts) {
    nlohmann::ordered_json changes = nlohmann::ordered_json::array();
    for (const proof::PassageDiff& passage : part.diff.passages)
      for (const proof::RulesetChange& change : passage.changes)
        changes.push_back(change_json(change));
    parts.push_back({{"enforcer", printable(part.enforcer)},
                     {"before", printable(part.before)},
                     {"after", printable(part.after)},
                     {"equal", part.diff.is_equal()},
                     {"listing_alone", part.listing_alone},
                     {"not_decided", part.diff.not_decided},
                     {"changes", std::move(changes)},
                     {"doubts", part.diff.doubts}});
  }
  const nlohmann::ordered_json json{{"schema", "bulkhead.diff/1"},
                                    {"exit", report.exit_code},
                                    {"conclusion", report.conclusion},
                                    {"before", printable(report.before)},
                                    {"after", printable(report.after)},
                                    {"enforcers_added", report.added},
                                    {"enforcers_removed", report.removed},
                                    {"opened", report.opened},
                                    {"closed", report.closed},
                                    {"redirected", report.redirected},
                                    {"enforcers", std::move(parts)}};
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string diff_junit(const DiffReport& report) {
  std::string cases;
  std::size_t tests = 0, failures = 0, errors = 0;
  const auto add = [&](std::string_view suite, std::string_view name, const std::string& inner) {
    ++tests;
    failures += inner.starts_with("<failure") ? 1 : 0;
    errors += inner.starts_with("<error") ? 1 : 0;
    cases += fmt::format("  <testcase classname=\"{}\" name=\"{}\"", xml_escape(suite),
                         xml_escape(name));
    cases += inner.empty() ? "/>\n" : fmt::format(">{}</testcase>\n", inner);
  };
  const auto enforcers = [&](const std::vector<std::string>& names, std::string_view word,
                             bool fails) {
    for (const std::string& name : names)
      add(name, word, fails ? fmt::format("<failure message=\"{}\"/>", word) : "");
  };
  enforcers(report.removed, "enforcer removed", report.fail_on_opened);
  enforcers(report.added, "enforcer added", report.fail_on_closed);
  for (const Part& part : report.parts) {
    const std::string suite = part.enforcer.empty() ? "rules" : part.enforcer;
    if (!part.diff.not_decided.empty())
      add(suite, "all", fmt::format("<error message=\"{}\"/>", xml_escape(part.diff.not_decided)));
    else
      for (const proof::PassageDiff& passage : part.diff.passages)
        add(suite, proof::to_string(passage.passage), outcome_xml(report, part, passage));
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"bulkhead diff\" tests=\"{}\" "
      "failures=\"{}\" errors=\"{}\">\n{}</testsuite>\n",
      tests, failures, errors, cases);
}

}  // namespace bulkhead::cli
