#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

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

constexpr std::array kStates = {MemberProof::State::Equal, MemberProof::State::Different,
                                MemberProof::State::NotDecided};

std::optional<MemberProof::State> read_proof(policy::TomlTable& table, Diagnostics& diagnostics) {
  const auto name = table.name("proof");
  if (!name)
    return std::nullopt;
  const auto* const found =
      std::find_if(kStates.begin(), kStates.end(),
                   [&](MemberProof::State state) { return to_string(state) == name->text; });
  if (found != kStates.end())
    return *found;
  diagnostics.error("bad-value", name->at, "`" + name->text + "` is nothing that a proof can say",
                    "say \"equal\", \"different\" or \"not decided\"");
  return std::nullopt;
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

// What a step of this kind takes, and cannot do without: keys of another kind stay unread, so that
// finish() tells them. An empty `text` takes a line away, so a change may lack it.
void read_keys_of(FaultStep& step, policy::TomlTable& table) {
  switch (step.kind) {
    case FaultStep::Kind::Change:
      step.block = table.text("block");
      step.find = table.text("find");
      step.text = table.text("text");
      if (step.find.empty())
        table.require("text");
      break;
    case FaultStep::Kind::Load:
      step.text = table.text("text");
      table.require("text");
      break;
    case FaultStep::Kind::Run:
      step.command = texts(table.names("command"));
      table.require("command");
      break;
    case FaultStep::Kind::Kill:
      break;
  }
}

// Of a step that is no kind, or several: nobody knows which keys are the wrong ones.
void take_all_keys(policy::TomlTable& table) {
  for (const std::string_view key : {"block", "find", "text", "command"})
    table.ignore(key);
}

FaultStep read_step(policy::TomlTable table, Diagnostics& diagnostics) {
  const std::size_t errors_before = diagnostics.error_count();
  FaultStep step;
  step.at = table.at();
  std::size_t kinds = 0;
  for (const auto& [key, kind] : kStepKeys) {
    const auto where = table.name(key);
    if (!where)
      continue;
    step.kind = kind;
    step.where = where->text;
    step.at = where->at;
    ++kinds;
  }
  if (kinds == 1) {
    for (const auto& [key, kind] : kStepKeys)
      if (kind == step.kind)
        table.call_it(fmt::format("a `{}` step", key));
    read_keys_of(step, table);
  } else {
    take_all_keys(table);
  }
  table.finish();
  // A misspelt kind is an unknown key, told already.
  if (kinds > 1 || (kinds == 0 && diagnostics.error_count() == errors_before))
    diagnostics.error(kinds > 1 ? "bad-value" : "missing-key", table.at(),
                      "a step says one of `change`, `load`, `run` and `kill`");
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
  std::map<std::string, SourcePos> ids;
  for (auto& table : root.tables("fault")) {
    Fault fault;
    fault.at = table.at();
    table.require("id");
    fault.id = table.text("id");
    table.call_it("fault `" + fault.id + "`");
    const auto [first, is_new] = ids.try_emplace(fault.id, fault.at);
    if (!is_new)
      diagnostics.error("duplicate-id", table.at("id"), "id `" + fault.id + "` is used twice")
          .related.push_back({first->second, "first here"});
    fault.what = table.text("what");
    fault.from = table.text("from");
    fault.from_at = table.at("from");
    fault.to = table.text("to");
    fault.to_at = table.at("to");
    fault.host = table.text("host");
    fault.host_at = table.at("host");
    if (!table.has("host")) {
      table.require("from");
      table.require("to");
    }
    if (!table.has("proof"))  // one of the two must notice it
      table.require("expect");
    fault.expect = read_findings(table, diagnostics);
    fault.proof = read_proof(table, diagnostics);
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
