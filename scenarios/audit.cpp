#include "scenarios/audit.h"
#include "scenarios/listing.h"

#include <algorithm>
#include <filesystem>

#include "enforcement/backends/netns_thread.h"
#include "scenarios/route_lookup.h"
#include "scenarios/ssh_destination.h"

namespace bulkhead::scenarios {

namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

Milliseconds since(Clock::time_point start) {
  return std::chrono::duration_cast<Milliseconds>(Clock::now() - start);
}

bool is_ours(const compiler::Enforcer& enforcer) {
  return enforcer.kind == compiler::EnforcerKind::Router &&
         enforcer.manage == compiler::Manage::Bulkhead;
}

std::string default_agent_program() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "bulkhead-agent" : (self.parent_path() / "bulkhead-agent").string();
}

class Audit {
 public:
  Audit(const compiler::Site& site, const AuditOptions& options) : site_(site), options_(options) {}

  Result<AuditResult> run() {
    stage("compile");
    const compiler::Artifacts artifacts = compiler::compile(site_, options_.plan);
    artifacts_ = &artifacts;
    result_.where = options_.where;
    result_.plan = options_.only ? *options_.only : compiler::probes_of(artifacts.probes);
    if (!options_.cells.empty())
      std::erase_if(result_.plan.probes, [&](const compiler::Probe& probe) {
        return std::find(options_.cells.begin(), options_.cells.end(),
                         std::pair{probe.from.cls, probe.to.cls}) == options_.cells.end();
      });
    if (options_.where == Where::Live)
      return live();
    return options_.as_it_stands ? in_standing_lab() : in_lab(artifacts);
  }

 private:
  void stage(const std::string& name) const {
    if (options_.stage)
      options_.stage(name);
  }

  [[nodiscard]] Status in_time() const {
    if (options_.conduct.stop && options_.conduct.stop->load())
      return fail(ErrorKind::Interrupted, "interrupted");
    if (options_.conduct.deadline && Clock::now() >= *options_.conduct.deadline)
      return fail(ErrorKind::Timeout, "time was up before it stood");
    return {};
  }

  Result<AuditResult> in_lab(const compiler::Artifacts& artifacts) {
    stage("lab up");
    const auto up_at = Clock::now();
    auto lab =
        Lab::up(site_, {.run = options_.conduct.run, .may_go_on = [this] { return in_time(); }});
    if (!lab)
      return fail(lab.error());
    stage("load rules");
    Rulesets rules = rulesets(artifacts);
    if (options_.edit_rules)
      if (Status edited = options_.edit_rules(rules); !edited)
        return fail(edited.error());
    if (Status loaded = (*lab)->load_rules(rules); !loaded)
      return fail(loaded.error());
    result_.lab_up = since(up_at);
    if (options_.before_probing)
      if (Status prepared = options_.before_probing(**lab); !prepared)
        return fail(prepared.error());

    if (Status probed = probe_in(**lab); !probed)
      return fail(probed.error());

    stage("lab down");
    const auto down_at = Clock::now();
    if (Status down = (*lab)->down(); !down)
      return fail(down.error());
    result_.lab_down = since(down_at);
    return std::move(result_);
  }

  Result<AuditResult> in_standing_lab() {
    auto lab = Lab::find(site_, options_.conduct.run);
    if (!lab)
      return fail(lab.error());
    if (Status probed = probe_in(**lab); !probed)
      return fail(probed.error());
    return std::move(result_);
  }

  Status probe_in(const Lab& lab) {
    const auto netns_of = [&](const std::string& host) { return lab.netns_path(host); };
    const auto launcher = probes::netns_launcher(
        options_.agent_program.empty() ? default_agent_program() : options_.agent_program,
        netns_of);
    std::map<std::string, std::unique_ptr<enforcement::Nft>> nft;
    for (const auto& member : members())
      nft[member] = enforcement::netns_nft(netns_of(member));
    const auto run_on = [&](const std::string& member, const std::vector<std::string>& command) {
      Result<enforcement::Finished> finished;
      const Status entered = enforcement::run_in_netns(netns_of(member), [&]() -> Status {
        finished = enforcement::run_process(command, "");
        return {};
      });
      return entered ? std::move(finished) : Result<enforcement::Finished>(fail(entered.error()));
    };
    prove([&](const std::string& member) { return list_here(member, netns_of(member)); });
    return probe(*launcher, std::move(nft), run_on);
  }

  // What is loaded on a live enforcer is not touched, but for the trace table.
  Result<AuditResult> live() {
    const auto destination_of = [&](const std::string& host) {
      return ssh_destination(site_.inventory, host);
    };
    probes::SshOptions ssh;
    if (!options_.ssh_command.empty())
      ssh.ssh_command = options_.ssh_command;
    if (!options_.agent_program.empty())
      ssh.agent_program = options_.agent_program;
    const std::string prefix = options_.sudo ? "sudo -n " : "";
    ssh.agent_program.insert(0, prefix);
    std::map<std::string, std::unique_ptr<enforcement::Nft>> nft;
    for (const auto& member : members())
      nft[member] = enforcement::ssh_nft(ssh.ssh_command, destination_of(member), prefix);
    const auto launcher = probes::ssh_launcher(ssh, destination_of);
    const auto run_on = [&](const std::string& member, const std::vector<std::string>& words) {
      std::vector<std::string> command = ssh.ssh_command;
      command.insert(command.end(), {"--", destination_of(member)});
      command.push_back(prefix + words.front());
      command.insert(command.end(), words.begin() + 1, words.end());
      return enforcement::run_process(command, "");
    };
    prove([&](const std::string& member) {
      return list_host(member, destination_of(member), {options_.ssh_command, options_.sudo});
    });
    if (Status probed = probe(*launcher, std::move(nft), run_on); !probed)
      return fail(probed.error());
    return std::move(result_);
  }

  // Before the first round: the trace table of the probes is not there yet.
  void prove(const std::function<Result<Listing>(const std::string& member)>& list) {
    stage("prove");
    for (const compiler::EnforcerView& view : site_.coverage.views)
      for (const std::string& member : site_.inventory.enforcers.at(view.enforcer).members)
        result_.proofs.push_back(compiler::proof::prove_member(
            site_, view, member, compiler::ruleset_text(*artifacts_, view.enforcer),
            list(member).and_then(ruleset_of)));
  }

  [[nodiscard]] std::vector<std::string> members() const {
    std::vector<std::string> names;
    for (const auto& [name, enforcer] : site_.inventory.enforcers)
      if (is_ours(enforcer))
        names.insert(names.end(), enforcer.members.begin(), enforcer.members.end());
    return names;
  }

  Status probe(probes::Launcher& launcher,
               std::map<std::string, std::unique_ptr<enforcement::Nft>> nft, RunOnMember run_on) {
    stage("probe");
    const auto started = Clock::now();
    const auto watch = nft_watch(std::move(nft), route_lookup(site_, std::move(run_on)));
    auto outcome = probes::conduct(site_, result_.plan, launcher, *watch, options_.conduct);
    if (!outcome)
      return fail(outcome.error());
    result_.outcome = std::move(*outcome);
    result_.probing = since(started);
    return {};
  }

  const compiler::Site& site_;
  const AuditOptions& options_;
  const compiler::Artifacts* artifacts_ = nullptr;  // of run()
  AuditResult result_;
};

}  // namespace

Rulesets rulesets(const compiler::Artifacts& artifacts) {
  Rulesets texts;
  for (const auto& [enforcer, file] : artifacts.manifest.enforcers)
    texts.emplace_back(enforcer, compiler::ruleset_text(artifacts, enforcer));
  return texts;
}

Result<AuditResult> audit(const compiler::Site& site, const AuditOptions& options) {
  return Audit(site, options).run();
}

}  // namespace bulkhead::scenarios
