#include <algorithm>
#include <array>

#include "policy/toml_reader.h"
#include "scenarios/faults.h"

namespace bulkhead::scenarios {

namespace {

using probes::Finding;

constexpr std::array kFindings = {Finding::Conforms,     Finding::NotCovered, Finding::Silent,
                                  Finding::Inconclusive, Finding::Outage,     Finding::Leak};

std::vector<std::string> texts(const std::vector<policy::Name>& names) {
  std::vector<std::string> out;
  for (const auto& name : names)
    out.push_back(name.text);
  return out;
}

std::vector<Finding> read_findings(policy::TomlTable& table, Diagnostics& diagnostics) {
  std::vector<Finding> findings;
  std::vector<std::string_view> known;
  for (const Finding finding : kFindings)
    known.push_back(to_string(finding));
  for (const auto& name : table.names("expect")) {
    const auto found = std::find(known.begin(), known.end(), name.text);
    if (found == known.end())
      diagnostics.error("bad-value", name.at, "`" + name.text + "` is not a finding",
                        did_you_mean(name.text, known));
    else
      findings.push_back(kFindings[static_cast<std::size_t>(found - known.begin())]);
  }
  return findings;
}

// The key says what is done, its value where.
struct StepKey {
  std::string_view key;
  FaultStep::Kind kind;
};
constexpr StepKey kStepKeys[] = {
    {"change", FaultStep::Kind::Change},
    {"load", FaultStep::Kind::Load},
    {"run", FaultStep::Kind::Run},
    {"kill", FaultStep::Kind::Kill},
};

FaultStep read_step(policy::TomlTable table, Diagnostics& diagnostics) {
  FaultStep step;
  bool known = false;
  for (const auto& [key, kind] : kStepKeys) {
    if (!table.has(key))
      continue;
    step.kind = kind;
    step.where = table.text(key);
    known = true;
  }
  if (!known)
    diagnostics.error("missing-key", table.at(), "a step says `change`, `load`, `run` or `kill`");
  step.block = table.text("block");
  step.find = table.text("find");
  step.text = table.text("text");
  step.command = texts(table.names("command"));
  table.finish();
  return step;
}

}  // namespace

std::vector<Fault> parse_faults(const policy::FileReader& read, const std::string& display_prefix,
                                SourceMap& sources, Diagnostics& diagnostics) {
  std::vector<Fault> faults;
  const auto document =
      policy::TomlDocument::read(read, "faults.toml", display_prefix, {}, sources, diagnostics);
  if (!document)
    return faults;
  policy::TomlTable root = document->root();
  for (auto& table : root.tables("fault")) {
    Fault fault;
    fault.at = table.at();
    table.require("id");
    fault.id = table.text("id");
    table.call_it("fault `" + fault.id + "`");
    fault.what = table.text("what");
    fault.from = table.text("from");
    fault.to = table.text("to");
    fault.host = table.text("host");
    table.require("expect");
    fault.expect = read_findings(table, diagnostics);
    table.require("steps");
    for (auto& step : table.tables("steps"))
      fault.steps.push_back(read_step(std::move(step), diagnostics));
    table.finish();
    faults.push_back(std::move(fault));
  }
  root.finish();
  return faults;
}

}  // namespace bulkhead::scenarios
