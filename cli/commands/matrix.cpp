#include "policy/matrix.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands/verbs.h"
#include "cli/report/says.h"
#include "cli/report/square.h"
#include "cli/support/answer.h"
#include "cli/support/exit_code.h"
#include "cli/support/site_argument.h"

namespace bulkhead::cli {
namespace {

using compiler::Cause;

struct CauseLook {
  Cause cause;
  Sign sign;
  std::string_view legend;
};
constexpr CauseLook kCauseLooks[] = {
    {Cause::Rule, {"·", Style::Dim}, "denied: an enforcer of ours drops it"},
    {Cause::Route, {"/", Style::Dim}, "denied: no route"},
    {Cause::Partition, {"k", Style::Dim}, "denied: InfiniBand keys"},
    {Cause::External, {"~", Style::Note}, "denied: by a control that bulkhead cannot read"},
    {Cause::None, {"-", Style::Warning}, "denied, but nothing stands between the two"},
};
constexpr Sign kOpen{"■", Style::Open};
constexpr Sign kSome{"●", Style::Good};

const CauseLook& look_of(Cause cause) {
  for (const CauseLook& look : kCauseLooks) {
    if (look.cause == cause)
      return look;
  }
  return kCauseLooks[0];
}

std::string matrix_text(const compiler::Site& site, const View& view) {
  const auto& classes = site.matrix.universe.classes;
  std::vector<std::string> names;
  for (const policy::Class& cls : classes)
    names.push_back(printable(cls.name));

  std::size_t open = 0, some = 0;
  std::map<Cause, std::size_t> denied;
  const auto sign = [&](std::size_t from, std::size_t to) {
    const auto a = static_cast<policy::ClassId>(from), b = static_cast<policy::ClassId>(to);
    const policy::Cell* cell = site.matrix.find(a, b);
    const std::string flows = what_flows(cell);
    if (cell && cell->everything) {
      ++open;
      return kOpen;
    }
    if (flows != "nothing") {
      ++some;
      return kSome;
    }
    const Cause cause = site.coverage.at(a, b).cause;
    ++denied[cause];
    return look_of(cause).sign;
  };
  std::string text =
      fmt::format("{}  as of {}\n\n", paint(printable(site.policy.name), Style::Bold, view.color),
                  policy::format_date(site.matrix.as_of));
  text += draw_square(names, sign, view.color, view.width) + "\n";
  const auto legend = [&](const Sign& glyph, std::size_t count, std::string_view means) {
    if (count > 0)
      text += fmt::format("  {} {:>5}  {}\n", paint(glyph.glyph, glyph.style, view.color), count,
                          means);
  };
  legend(kOpen, open, "open inside its segment");
  legend(kSome, some, "named services only");
  for (const CauseLook& look : kCauseLooks)
    legend(look.sign, denied[look.cause], look.legend);

  if (view.all) {
    text += "\n";
    for (const policy::Cell& cell : site.matrix.cells) {
      const std::string flows = what_flows(&cell);
      if (flows != "nothing")
        text += fmt::format("  {} → {}: {}\n", names[cell.from], names[cell.to], flows);
    }
  }
  return text;
}

nlohmann::ordered_json pieces_json(const policy::Cell* cell, policy::Action action) {
  auto list = nlohmann::ordered_json::array();
  if (cell && cell->everything && action == policy::Action::Allow)
    list.push_back({{"proto", "any"}, {"rules", {policy::kRuleInside}}});
  if (!cell)
    return list;
  for (const policy::Piece& piece : cell->pieces) {
    if (piece.action != action)
      continue;
    nlohmann::ordered_json item{{"proto", policy::to_string(piece.key.kind)}};
    if (policy::has_ports(piece.key.kind)) {
      if (piece.ports.first == piece.ports.last)
        item["ports"] = {piece.ports.first};
      else
        item["ports"] = {fmt::format("{}-{}", piece.ports.first, piece.ports.last)};
    } else {
      item["what"] = policy::to_string(policy::Traffic{piece.key, PortSet{piece.ports}});
    }
    item["rules"] = piece.rules;
    list.push_back(std::move(item));
  }
  return list;
}

// A line a cell, also for the denied ones: their cause is half of what the matrix says.
std::string matrix_json(const compiler::Site& site) {
  const auto& classes = site.matrix.universe.classes;
  std::string text;
  for (const compiler::CellCoverage& coverage : site.coverage.cells) {
    const policy::Cell* cell = site.matrix.find(coverage.from, coverage.to);
    nlohmann::ordered_json json{{"schema", "bulkhead.matrix/1"},
                                {"from", classes[coverage.from].name},
                                {"to", classes[coverage.to].name},
                                {"allow", pieces_json(cell, policy::Action::Allow)}};
    auto denied = pieces_json(cell, policy::Action::Deny);
    if (!denied.empty())
      json["deny"] = std::move(denied);
    json["cause"] = compiler::to_string(coverage.cause);
    if (!coverage.control.empty())
      json["enforcer"] = coverage.control;
    text += json.dump() + "\n";
  }
  return text;
}

Result<int> run(const Settings& settings) {
  auto site = open_site(settings);
  if (!site)
    return fail(site.error());
  std::string text;
  if (settings.format == "json")
    text = matrix_json(*site);
  else
    text = matrix_text(*site, view_of(settings));
  if (Status written = answer(settings, text); !written)
    return fail(written.error());
  return kExitOk;
}

}  // namespace

Verb matrix_verb() {
  return {
      .name = "matrix",
      .arguments = "SITE",
      .summary = "Show who may talk to whom",
      .details =
          "text: the square, a row for each class that opens a connection, a column for each that\n"
          "listens; -v adds what each cell allows. json: a line a cell, with the cause of each\n"
          "denial. csv: the flows, a row each, for a spreadsheet; `import csv` reads it back.",
      .example =
          "  bulkhead matrix scenarios/gpu-pod\n"
          "  bulkhead matrix scenarios/gpu-pod --format csv --output flows.csv\n",
      .options = {"as-of", "format", "output", "quiet", "verbose", "color"},
      .formats = {"text", "json"},
      .run = run,
  };
}

}  // namespace bulkhead::cli
