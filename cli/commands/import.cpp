#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "cli/commands/verbs.h"
#include "cli/support/answer.h"
#include "cli/support/exit_code.h"
#include "policy/file_reader.h"
#include "policy/flow_csv.h"

namespace bulkhead::cli {
namespace {

Result<int> run(const Settings& settings) {
  const std::filesystem::path path(settings.arguments.front());
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const std::string prefix = path.has_parent_path() ? (folder / "").string() : "";
  SourceMap sources;
  Diagnostics diagnostics;
  std::vector<policy::Flow> flows;
  const auto file = policy::read_source(policy::folder_reader(folder), path.filename().string(),
                                        prefix, {}, sources, diagnostics);
  if (file)
    flows = policy::parse_flow_csv(*file, sources, diagnostics);
  diagnostics.sort();
  std::fputs(render(diagnostics, sources, use_color(settings.color, fileno(stderr))).c_str(),
             stderr);
  if (diagnostics.has_errors())
    return fail(ErrorKind::Usage,
                fmt::format("{}: nothing was written", settings.arguments.front()));
  Status written =
      answer(settings, settings.format == "csv" ? policy::to_csv(flows) : policy::to_toml(flows));
  if (!written)
    return fail(written.error());
  return kExitOk;
}

}  // namespace

Verb import_csv_verb() {
  return {
      .name = "import csv",
      .arguments = "FILE",
      .summary = "Turn a spreadsheet of flows into policy",
      .details =
          "Reads a CSV with a flow in each row: id, from, to, services, and, where there are\n"
          "columns for them, action, both_ways, why, owner, ticket, expires. toml: [[flow]] "
          "blocks\n"
          "for policy.toml. csv: the same table, all columns, ordered. `matrix --format csv` is "
          "the\n"
          "way back.",
      .example =
          "  bulkhead matrix site --format csv --output flows.csv\n"
          "  bulkhead import csv flows.csv --output flows.toml\n",
      .options = {"format", "output", "color"},
      .formats = {"toml", "csv"},
      .run = run,
  };
}

}  // namespace bulkhead::cli
