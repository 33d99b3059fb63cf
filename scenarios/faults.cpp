#include "scenarios/faults.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "scenarios/fault_edit.h"
#include "scenarios/lab_state.h"

namespace bulkhead::scenarios {

namespace {

using probes::Finding;

void kill_agents(const std::vector<std::string>& netns_paths) {
  for (const int pid : processes_in(netns_paths)) {
    std::string name;
    std::ifstream(fmt::format("/proc/{}/comm", pid)) >> name;
    if (name.starts_with("bulkhead-agent"))
      ::kill(pid, SIGKILL);
  }
}

// "{netns:leaf.bolt}" -> "bh-gpu-pod-x7k2ab-leaf.bolt", as `ip link ... netns NAME` wants it.
std::string with_netns_names(std::string word, const Lab& lab) {
  constexpr std::string_view kOpen = "{netns:";
  for (auto at = word.find(kOpen); at != std::string::npos; at = word.find(kOpen, at)) {
    const auto end = word.find('}', at);
    if (end == std::string::npos)
      break;
    const std::string host = word.substr(at + kOpen.size(), end - at - kOpen.size());
    const std::string path = lab.netns_path(host);
    word.replace(at, end + 1 - at, path.substr(path.rfind('/') + 1));
  }
  return word;
}

// Whoever an audit of the whole site employs looks on when one cell is broken.
std::set<std::string> probed_hosts(const compiler::Site& site,
                                   const compiler::PlanOptions& options) {
  std::set<std::string> hosts;
  for (const compiler::Probe& probe : compiler::plan_probes(site, options).probes) {
    for (const compiler::ProbeEnd* end : {&probe.from, &probe.to}) {
      const auto kind = site.matrix.universe.classes[end->cls].kind;
      if (!end->agentless && kind != policy::ClassKind::Enforcer)
        hosts.insert(end->host);
    }
  }
  return hosts;
}

class FaultRun {
 public:
  FaultRun(const compiler::Site& site, const Fault& fault, AuditOptions options)
      : site_(site), fault_(fault), options_(std::move(options)) {}

  Result<FaultOutcome> run() {
    if (Status planned = choose_cell(); !planned)
      return fail(planned.error());
    options_.edit_rules = [this](Rulesets& rulesets) { return change(rulesets); };
    options_.before_probing = [this](Lab& lab) { return prepare(lab); };
    const auto forward = options_.conduct.evidence_line;
    options_.conduct.evidence_line = [this, forward](const std::string& line) {
      if (!to_kill_.empty())
        kill_agents(std::exchange(to_kill_, {}));
      if (forward)
        forward(line);
    };
    const auto result = audit(site_, options_);
    if (!result)
      return fail(result.error());
    return judge(*result);
  }

 private:
  Status choose_cell() {
    if (fault_.from.empty() && !fault_.host.empty())
      return {};
    const auto& classes = site_.matrix.universe.classes;
    const auto* from = site_.matrix.universe.find(fault_.from);
    const auto* to = site_.matrix.universe.find(fault_.to);
    if (from == nullptr || to == nullptr)
      return fail(ErrorKind::Usage, fmt::format("no class `{}`: `bulkhead matrix` names them",
                                                from == nullptr ? fault_.from : fault_.to));
    options_.cells = {{static_cast<policy::ClassId>(from - classes.data()),
                       static_cast<policy::ClassId>(to - classes.data())}};
    return {};
  }

  Status change(Rulesets& rulesets) const {
    for (const auto& step : fault_.steps) {
      if (step.kind != FaultStep::Kind::Change)
        continue;
      const auto ruleset = std::find_if(rulesets.begin(), rulesets.end(),
                                        [&](const auto& item) { return item.first == step.where; });
      if (ruleset == rulesets.end())
        return fail(ErrorKind::Usage, "there is no enforcer `" + step.where + "`");
      auto edited = edit_ruleset(ruleset->second, step.block, step.find, step.text);
      if (!edited)
        return fail(edited.error());
      ruleset->second = std::move(*edited);
    }
    return {};
  }

  Status prepare(Lab& lab) {
    for (const auto& step : fault_.steps) {
      if (step.kind == FaultStep::Kind::Change)
        continue;
      const std::string netns = lab.netns_path(step.where);
      if (netns.empty())
        return fail(ErrorKind::Usage, "the lab has no host `" + step.where + "`");
      if (step.kind == FaultStep::Kind::Kill) {
        to_kill_.push_back(netns);
      } else if (step.kind == FaultStep::Kind::Load) {
        if (Status loaded = enforcement::netns_nft(netns)->load(step.text); !loaded)
          return loaded;
      } else {
        std::vector<std::string> command;
        for (const auto& word : step.command)
          command.push_back(with_netns_names(word, lab));
        const auto status = lab.exec(step.where, command);
        if (!status)
          return fail(status.error());
        if (*status != 0)
          return fail(ErrorKind::Environment,
                      fmt::format("`{}` on {} exited with {}", fmt::join(command, " "), step.where,
                                  *status));
      }
    }
    return {};
  }

  [[nodiscard]] FaultOutcome judge(const AuditResult& result) const {
    FaultOutcome outcome;
    outcome.id = fault_.id;
    outcome.what = fault_.what;
    const auto take = [&](Finding finding, const std::string& reason) {
      if (finding <= outcome.found)
        return;
      outcome.found = finding;
      outcome.reason = reason;
    };
    for (const auto& finding : result.outcome.findings)
      if (fault_.host.empty() || finding.subject == fault_.host)
        take(finding.finding, finding.reason);
    if (fault_.host.empty())
      for (const auto& verdict : result.outcome.verdicts)
        take(verdict.finding, verdict.kind + ": " + verdict.reason);
    outcome.changes_rules = changes_rules();
    take_proofs(result, outcome);
    const bool as_expected =
        fault_.expect.empty() ||
        std::find(fault_.expect.begin(), fault_.expect.end(), outcome.found) != fault_.expect.end();
    outcome.caught = as_expected && (!fault_.proof || outcome.proof == *fault_.proof);
    return outcome;
  }

  // Known differences before open questions, these before "equal".
  static void take_proofs(const AuditResult& result, FaultOutcome& outcome) {
    using State = MemberProof::State;
    for (const State state : {State::Different, State::NotDecided, State::Equal}) {
      const auto found =
          std::find_if(result.proofs.begin(), result.proofs.end(),
                       [&](const MemberProof& proven) { return proven.state == state; });
      if (found == result.proofs.end())
        continue;
      outcome.proof = state;
      outcome.proof_reason = found->reason;
      return;
    }
  }

  // Of an enforcer that bulkhead manages; rules of a host, routes and agents are no rules of ours.
  [[nodiscard]] bool changes_rules() const {
    const auto is_member = [&](const std::string& name) {
      return std::any_of(site_.coverage.views.begin(), site_.coverage.views.end(),
                         [&](const compiler::EnforcerView& view) {
                           const auto& members =
                               site_.inventory.enforcers.at(view.enforcer).members;
                           return std::find(members.begin(), members.end(), name) != members.end();
                         });
    };
    return std::any_of(fault_.steps.begin(), fault_.steps.end(), [&](const FaultStep& step) {
      const bool by_hand = step.kind == FaultStep::Kind::Run && !step.command.empty() &&
                           step.command.front() == "nft";
      return step.kind == FaultStep::Kind::Change ||
             ((step.kind == FaultStep::Kind::Load || by_hand) && is_member(step.where));
    });
  }

  const compiler::Site& site_;
  const Fault& fault_;
  AuditOptions options_;
  std::vector<std::string> to_kill_;  // namespaces whose agents die at the first evidence
};

}  // namespace

Result<std::vector<FaultOutcome>> run_faults(const compiler::Site& site,
                                             const std::vector<Fault>& faults,
                                             const AuditOptions& options,
                                             const std::function<void(const FaultOutcome&)>& each) {
  std::vector<FaultOutcome> outcomes;
  AuditOptions watched = options;
  watched.conduct.watchers = probed_hosts(site, options.plan);
  for (const auto& fault : faults) {
    auto outcome = FaultRun(site, fault, watched).run();
    if (!outcome)
      return fail(outcome.error().context("fault " + fault.id));
    // What an audit that was cut short found says nothing of this fault.
    if (options.conduct.deadline && std::chrono::steady_clock::now() >= *options.conduct.deadline)
      return fail(ErrorKind::Timeout,
                  fmt::format("time was up after {} of {} faults", outcomes.size(), faults.size()));
    if (each)
      each(*outcome);
    outcomes.push_back(std::move(*outcome));
  }
  return outcomes;
}

}  // namespace bulkhead::scenarios
