#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/report/formats.h"
#include "cli/report/square.h"
#include "cli/support/terminal.h"

namespace bulkhead::cli {
namespace {

using probes::Finding;
using Intent = CellReport::Intent;

struct FindingLook {
  Finding finding;
  Sign sign;
  std::string_view title;
  std::string_view legend;
};
// Most severe first. Letters, so that a finding is seen without colour; what conforms stays quiet.
constexpr FindingLook kFindingLooks[] = {
    {Finding::Leak, {"L", Style::Bad}, "LEAK", "leak: denied, yet it arrived"},
    {Finding::Outage, {"O", Style::Warning}, "OUTAGE", "outage: allowed, yet it did not arrive"},
    {Finding::Inconclusive,
     {"?", Style::Warning},
     "INCONCLUSIVE",
     "inconclusive: the probes decide nothing"},
    {Finding::Silent,
     {"~", Style::Note},
     "SILENT",
     "silent: nothing arrived, and nobody saw who stopped it"},
    {Finding::NotCovered,
     {"-", Style::Note},
     "NOT COVERED",
     "not covered: nothing there to prove it"},
};

struct IntentLook {
  Intent intent;
  Sign sign;
  std::string_view legend;
};
constexpr IntentLook kIntentLooks[] = {
    {Intent::Everything, {"■", Style::Open}, "open inside its segment"},
    {Intent::Some, {"●", Style::Good}, "named services arrive, nothing else that was tried"},
    {Intent::Deny,
     {"·", Style::Dim},
     "nothing that was tried arrives, and who stopped it was seen"},
};

constexpr std::size_t kLinesPerFinding = 12;  // without -v
constexpr std::size_t kCellsPerReason = 3;

Sign sign_of(const CellReport& cell) {
  if (!cell.counts)
    return {" ", Style::Plain};
  for (const FindingLook& look : kFindingLooks) {
    if (look.finding == cell.finding)
      return look.sign;
  }
  for (const IntentLook& look : kIntentLooks) {
    if (look.intent == cell.intent)
      return look.sign;
  }
  return {};
}

std::string head(const Report& report, const View& view) {
  const bool lab = report.made == scenarios::Where::Lab;
  const std::string mark =
      lab ? paint(" LAB ", Style::Bold, view.color) : paint(" LIVE ", Style::Bad, view.color);
  return fmt::format("{} {}  as of {}, run {}, seed {}\n", mark, printable(report.site),
                     report.as_of, report.run, report.seed) +
         paint(lab ? "  Network namespaces on this machine: says nothing about a real network.\n"
                   : "  Real hosts, real network.\n",
               Style::Dim, view.color) +
         (report.asked.is_whole()
              ? std::string()
              : paint(fmt::format("  Not the whole site: {}.\n", report.asked.words()),
                      Style::Warning, view.color)) +
         "\n";
}

// Only the signs that occur: a clean report has a short legend.
std::string legend(const Report& report, bool color) {
  std::string text;
  const bool any_blank = std::any_of(report.cells.begin(), report.cells.end(),
                                     [](const CellReport& cell) { return !cell.counts; });
  const auto add = [&](const Sign& sign, std::string_view means) {
    text += fmt::format("  {} {}\n", paint(sign.glyph, sign.style, color), means);
  };
  for (const IntentLook& look : kIntentLooks) {
    if (std::any_of(report.cells.begin(), report.cells.end(), [&](const CellReport& cell) {
          return cell.counts && cell.finding == Finding::Conforms && cell.intent == look.intent;
        }))
      add(look.sign, look.legend);
  }
  for (const FindingLook& look : kFindingLooks) {
    if (report.count(look.finding) > 0)
      add(look.sign, look.legend);
  }
  if (any_blank)
    text += report.asked.is_whole() ? "  (blank) no packet can be between the two\n"
                                    : "  (blank) no packet can be between the two, or not asked\n";
  return text + "\n";
}

// Words of `text` in lines of at most `width` columns, each with the indent.
std::string wrap(std::string_view text, std::size_t indent, std::size_t width) {
  std::string out, current(indent, ' ');
  std::size_t taken = indent;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(std::min(space + 1, text.size()));
    if (taken > indent && taken + 1 + columns(word) > width) {
      out += current + "\n";
      current.assign(indent, ' ');
      taken = indent;
    }
    if (taken > indent) {
      current += ' ';
      ++taken;
    }
    current += word;
    taken += columns(word);
  }
  return out + current + "\n";
}

std::string plural(std::uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string cell_line(const Report& report, const CellReport& cell, const Sign& sign, bool color) {
  std::string policy;
  switch (cell.intent) {
    case Intent::Deny:
      policy = "denied";
      break;
    case Intent::Some:
      policy = "allowed: " + cell.says;
      break;
    case Intent::Everything:
      policy = "open";
      break;
  }
  std::string bad;
  for (const FindingLook& look : kFindingLooks) {
    if (const std::uint32_t count = cell.by_finding[static_cast<std::size_t>(look.finding)];
        count > 0)
      bad += ", " + counted(look.finding, count);
  }
  if (!bad.empty())
    bad += fmt::format(" of {}", plural(cell.probes, "probe", "probes"));
  return fmt::format("  {} {} → {}  {}\n", paint(sign.glyph, sign.style, color),
                     paint(printable(report.classes[cell.from]), Style::Bold, color),
                     paint(printable(report.classes[cell.to]), Style::Bold, color),
                     paint(fmt::format("({} → {}, {}{})", cell.from + 1, cell.to + 1, policy, bad),
                           Style::Dim, color));
}

// Cells with one reason are told together: an uncovered switch is one sentence, not forty.
std::string reasons(const Report& report, const FindingLook& look, const View& view) {
  std::vector<std::pair<std::string, std::vector<const CellReport*>>> groups;
  std::map<std::string, std::size_t> place;
  for (const CellReport& cell : report.cells) {
    if (!cell.counts || cell.finding != look.finding)
      continue;
    const auto [it, is_new] = place.emplace(cell.reason, groups.size());
    if (is_new)
      groups.push_back({cell.reason, {}});
    groups[it->second].second.push_back(&cell);
  }
  if (groups.empty())
    return {};

  const std::uint32_t cells = report.count(look.finding);
  std::string text = fmt::format("{}  {} {}\n", paint(look.title, look.sign.style, view.color),
                                 cells, cells == 1 ? "cell" : "cells");
  std::size_t told = 0, lines = 0;
  for (const auto& [reason, members] : groups) {
    if (!view.all && lines >= kLinesPerFinding)
      break;
    const std::size_t shown = view.all ? members.size() : std::min(members.size(), kCellsPerReason);
    for (std::size_t i = 0; i < shown; ++i)
      text += cell_line(report, *members[i], look.sign, view.color);
    if (shown < members.size())
      text += fmt::format("    and {} more cells\n", members.size() - shown);
    text += wrap(printable(reason), 4, static_cast<std::size_t>(std::max(view.width, 40)));
    told += members.size();
    lines += shown;
  }
  if (told < cells)
    text += paint(fmt::format("  and {} more cells: -v shows them all\n", cells - told), Style::Dim,
                  view.color);
  return text + "\n";
}

// What is wrong with a host and stands in no cell.
std::string beside(const Report& report, const View& view) {
  std::string text;
  for (const FindingLook& look : kFindingLooks) {
    for (const probes::SiteFinding& other : report.beside) {
      if (other.finding == look.finding)
        text +=
            fmt::format("{}  host {}\n", paint(look.title, look.sign.style, view.color),
                        paint(printable(other.subject), Style::Bold, view.color)) +
            wrap(printable(other.reason), 4, static_cast<std::size_t>(std::max(view.width, 40)));
    }
  }
  return text.empty() ? text : text + "\n";
}

// What the loaded rules do to packets that nobody sent.
std::string proofs(const Report& report, const View& view) {
  using State = scenarios::MemberProof::State;
  constexpr std::size_t kShown = 4;
  std::string text;
  for (const scenarios::MemberProof& proven : report.proofs) {
    if (proven.state == State::Equal)
      continue;
    const bool different = proven.state == State::Different;
    text += fmt::format("{}  rules of {}: {}\n",
                        paint(different ? "NOT EQUAL" : "NOT PROVEN",
                              different ? Style::Bad : Style::Warning, view.color),
                        paint(printable(proven.member), Style::Bold, view.color),
                        printable(proven.reason));
    const std::size_t shown =
        view.all ? proven.differences.size() : std::min(proven.differences.size(), kShown);
    for (std::size_t i = 0; i < shown; ++i)
      text += wrap(printable(proven.differences[i]), 4,
                   static_cast<std::size_t>(std::max(view.width, 40)));
    if (shown < proven.differences.size())
      text += fmt::format("    and {} more (-v shows them)\n", proven.differences.size() - shown);
  }
  return text.empty() ? text : text + "\n";
}

double seconds(std::chrono::milliseconds time) {
  return static_cast<double>(time.count()) / 1000;
}

std::string foot(const Report& report, const View& view) {
  std::string cells = counted(Finding::Conforms, report.count(Finding::Conforms));
  for (const FindingLook& look : kFindingLooks) {
    if (report.count(look.finding) > 0)
      cells += ", " + counted(look.finding, report.count(look.finding));
    if (look.finding == Finding::Silent && report.accepted > 0)
      cells += fmt::format(" ({} accepted)", report.accepted);
  }
  std::string text = fmt::format("  cells     {}: {}\n", report.total, cells);
  text += fmt::format("  coverage  {:.1f} %{}\n", report.coverage_percent,
                      report.asked.is_whole() ? "" : " of what was asked: " + report.asked.words());
  text +=
      fmt::format("  probes    {} in {}{}, {} with controls, {}\n", report.probes,
                  plural(report.rounds, "round", "rounds"),
                  report.void_rounds ? fmt::format(" ({} void)", report.void_rounds) : "",
                  plural(report.tries, "try", "tries"), plural(report.retries, "retry", "retries"));
  for (const scenarios::MemberProof& proven : report.proofs)
    text += fmt::format("  proof     {}: {}\n", printable(proven.member), printable(proven.reason));
  if (report.count(Finding::Leak) > 0 && !report.proofs.empty() &&
      std::all_of(report.proofs.begin(), report.proofs.end(), [](const scenarios::MemberProof& p) {
        return p.state == scenarios::MemberProof::State::Equal;
      }))
    text +=
        "            and leaks all the same: what arrived met no such rule, or met it as another\n"
        "            packet (a path around, a copy, a translation to an allowed destination)\n";
  const auto total = report.lab_up + report.probing + report.lab_down;
  text += fmt::format("  time      {:.1f} s", seconds(total));
  if (report.lab_up.count() > 0)  // else nothing was built: live, or a lab that stood before
    text += fmt::format(" (lab up {:.1f}, probing {:.1f}, lab down {:.1f})", seconds(report.lab_up),
                        seconds(report.probing), seconds(report.lab_down));
  text += "\n";
  for (const std::string& note : report.notes)
    text += fmt::format("  note      {}\n", printable(note));
  const Style style = report.exit_code == 0   ? Style::Good
                      : report.exit_code == 1 ? Style::Bad
                                              : Style::Warning;
  return text + "\n  " +
         paint(fmt::format("exit {}: {}", report.exit_code, report.conclusion), style, view.color) +
         "\n";
}

}  // namespace

std::string to_text(const Report& report, const View& view) {
  std::vector<std::string> names;
  for (const std::string& name : report.classes)
    names.push_back(printable(name));
  std::string text = head(report, view);
  text += draw_square(
      names, [&](std::size_t from, std::size_t to) { return sign_of(report.at(from, to)); },
      view.color, view.width);
  text += "\n" + legend(report, view.color);
  for (const FindingLook& look : kFindingLooks)
    text += reasons(report, look, view);
  text += beside(report, view);
  text += proofs(report, view);
  return text + foot(report, view);
}

}  // namespace bulkhead::cli
