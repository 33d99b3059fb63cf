// Faults against their site: a name that is misspelt, or a change whose text is no longer in the
// ruleset, is told by `check` with its place, not by a lab that was built in vain.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/ir.h"
#include "compiler/targets/nftables.h"
#include "scenarios/fault_edit.h"
#include "scenarios/faults.h"
#include "scenarios/lab_plan.h"

namespace bulkhead::scenarios {

namespace {

using Names = std::vector<std::string>;

class FaultCheck {
 public:
  FaultCheck(const compiler::Site& site, Diagnostics& diagnostics)
      : site_(site), diagnostics_(diagnostics) {
    for (const policy::Class& cls : site.matrix.universe.classes)
      classes_.push_back(cls.name);
    for (const PlannedNetns& node : plan_lab(site).nodes)
      namespaces_.push_back(node.name);
    namespaces_.emplace_back("fabric");
    for (const compiler::EnforcerView& view : site.coverage.views)
      enforcers_.push_back(view.enforcer);
  }

  void check(const Fault& fault) {
    if (!fault.from.empty())
      must_be_among(classes_, "class", fault.from, fault.from_at);
    if (!fault.to.empty())
      must_be_among(classes_, "class", fault.to, fault.to_at);
    if (!fault.host.empty())
      must_be_among(namespaces_, "host of the lab", fault.host, fault.host_at);
    std::map<std::string, std::string> edited;  // each change sees those before it
    for (const FaultStep& step : fault.steps) {
      if (step.kind == FaultStep::Kind::Change)
        check_change(step, edited);
      else
        must_be_among(namespaces_, "host of the lab", step.where, step.at);
    }
  }

 private:
  bool must_be_among(const Names& known, std::string_view what, const std::string& name,
                     SourcePos at) {
    if (std::find(known.begin(), known.end(), name) != known.end())
      return true;
    diagnostics_.error("unknown-name", at, fmt::format("there is no {} `{}`", what, name),
                       did_you_mean(name, {known.begin(), known.end()}));
    return false;
  }

  void check_change(const FaultStep& step, std::map<std::string, std::string>& edited) {
    if (!must_be_among(enforcers_, "enforcer of ours", step.where, step.at))
      return;
    std::string& text = edited.try_emplace(step.where, compiled(step.where)).first->second;
    auto changed = edit_ruleset(text, step.block, step.find, step.text);
    if (changed)
      text = *std::move(changed);
    else
      diagnostics_.error("does-not-apply", step.at, changed.error().message,
                         "`bulkhead compile SITE --output DIR` writes the ruleset as it is");
  }

  const std::string& compiled(const std::string& enforcer) {
    const auto [text, is_new] = texts_.try_emplace(enforcer);
    for (const compiler::EnforcerView& view : site_.coverage.views)
      if (is_new && view.enforcer == enforcer)
        text->second = compiler::nftables(compiler::ir::make_enforcer(site_, view)).text;
    return text->second;
  }

  const compiler::Site& site_;
  Diagnostics& diagnostics_;
  Names classes_, namespaces_, enforcers_;
  std::map<std::string, std::string> texts_;  // by enforcer, as compiled
};

}  // namespace

void check_faults(const compiler::Site& site, const std::vector<Fault>& faults,
                  Diagnostics& diagnostics) {
  FaultCheck check(site, diagnostics);
  for (const Fault& fault : faults)
    check.check(fault);
}

std::vector<Fault> load_faults(compiler::Site& site) {
  const bool was_ok = site.ok();
  // Named in messages as the site's other files are.
  std::string prefix = site.sources.size() == 0 ? "" : site.sources.file(0).name;
  prefix.resize(prefix.size() - std::min(prefix.size(), std::string_view("policy.toml").size()));
  std::vector<Fault> faults =
      parse_faults(policy::folder_reader(site.folder), prefix, site.sources, site.diagnostics);
  if (was_ok)
    check_faults(site, faults, site.diagnostics);
  site.diagnostics.sort();
  return faults;
}

}  // namespace bulkhead::scenarios
