#include "policy/matrix.h"

#include <fmt/format.h>

#include <map>

#include "cli/commands/verbs.h"
#include "cli/report/says.h"
#include "cli/report/square.h"
#include "cli/support/answer.h"
#include "cli/support/exit_code.h"
#include "cli/support/site_argument.h"
#include "compiler/matrix_json.h"
#include "policy/flow_csv.h"

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

// What is no pair, and the outside and the outside: nothing of ours could ever flow there.
bool is_a_question(const policy::Universe& universe, policy::ClassId from, policy::ClassId to) {
  const bool outside = universe.classes[from].kind == policy::ClassKind::External &&
                       universe.classes[to].kind == policy::ClassKind::External;
  return !outside && policy::is_pair(universe, from, to);
}

std::string matrix_text(const compiler::Site& site, const View& view) {
  std::vector<std::string> names;
  for (const policy::Class& cls : site.matrix.universe.classes)
    names.push_back(printable(cls.name));

  std::size_t open = 0, some = 0;
  std::map<Cause, std::size_t> denied;
  const auto sign = [&](std::size_t from, std::size_t to) {
    const auto a = static_cast<policy::ClassId>(from), b = static_cast<policy::ClassId>(to);
    if (!is_a_question(site.matrix.universe, a, b))
      return Sign{" ", Style::Plain};
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

Result<int> run(const Settings& settings) {
  auto site = open_site(settings);
  if (!site)
    return fail(site.error());
  std::string text;
  if (settings.format == "json")
    text = compiler::to_json(site->matrix, site->coverage);
  else if (settings.format == "csv")
    text = policy::to_csv(site->policy.flows);
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
          "denial. csv: the flows, a row each, for a spreadsheet; `import csv` reads it back.\n"
          "A row does not say which file its flow is written in: json does.",
      .example =
          "  bulkhead matrix scenarios/gpu-pod\n"
          "  bulkhead matrix scenarios/gpu-pod --format csv --output flows.csv\n",
      .options = {"as-of", "format", "output", "quiet", "verbose", "color"},
      .formats = {"text", "json", "csv"},
      .run = run,
  };
}

}  // namespace bulkhead::cli
