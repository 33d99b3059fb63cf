#include "scenarios/lab.h"

#include <fmt/format.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <thread>

#include "enforcement/backends/netns_thread.h"
#include "enforcement/backends/nft.h"
#include "enforcement/backends/process.h"
#include "scenarios/lab_build.h"
#include "scenarios/lab_plan.h"
#include "scenarios/lab_state.h"

extern char** environ;

namespace bulkhead::scenarios {

namespace {

constexpr const char* kFabric = "fabric";

std::string random_run() {
  std::random_device random;
  std::string run;
  for (int i = 0; i < 6; ++i)
    run += "abcdefghijklmnopqrstuvwxyz234567"[random() % 32];
  return run;
}

bool well_formed(const std::string& run) {
  return !run.empty() && run.size() <= 32 && std::all_of(run.begin(), run.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  });
}

Result<std::string> read_foreign(const compiler::Site& site, const std::string& relative) {
  const auto path = site.folder / relative;
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file)
    return fail(ErrorKind::Environment, "read foreign ruleset " + path.string());
  return text.str();
}

}  // namespace

struct Lab::State {
  LabRecord record;
  LabPlan plan;
  Guardian guardian;
  bool standing = false;
  std::map<std::string, std::vector<std::string>> members;        // by enforcer
  std::map<std::string, std::vector<std::string>> foreign_texts;  // by enforcer

  Status read_enforcers(const compiler::Site& site);
};

Status Lab::State::read_enforcers(const compiler::Site& site) {
  for (const auto& [name, enforcer] : site.inventory.enforcers) {
    if (enforcer.kind != compiler::EnforcerKind::Router ||
        enforcer.manage != compiler::Manage::Bulkhead)
      continue;
    members[name] = enforcer.members;
    for (const auto& file : enforcer.foreign) {
      auto text = read_foreign(site, file.text);
      if (!text)
        return fail(text.error());
      foreign_texts[name].push_back(std::move(*text));
    }
  }
  return {};
}

Status check_root() {
  if (::geteuid() != 0)
    return fail(ErrorKind::Environment,
                "a lab needs root for network namespaces and nftables: run the same with sudo");
  return {};
}

Status check_environment() {
  if (Status root = check_root(); !root)
    return root;
  if (::access("/proc/self/ns/net", F_OK) != 0)
    return fail(ErrorKind::Environment,
                "this kernel has no network namespaces: use one built with CONFIG_NET_NS");
  for (const auto& [program, package] : {std::pair{"ip", "iproute2"}, {"nft", "nftables"}}) {
    const auto ran = enforcement::run_process({program, "-V"}, "");
    if (!ran)
      return fail(
          ErrorKind::Environment,
          fmt::format("`{}` is not in PATH: install it with `apt install {}`", program, package));
  }
  Status made;
  std::thread probe([&] {
    if (::unshare(CLONE_NEWNET) != 0)
      made =
          fail(ErrorKind::Environment,
               fmt::format("a network namespace cannot be made here ({}): in a container, give it "
                           "CAP_SYS_ADMIN (docker run --privileged)",
                           std::strerror(errno)));
    else if (const auto generation = enforcement::netns_nft("")->generation(); !generation)
      made = fail(ErrorKind::Environment, "this kernel has no nf_tables (" +
                                              generation.error().message +
                                              "): use one built with CONFIG_NF_TABLES");
  });
  probe.join();
  return made;
}

Lab::Lab() : state_(std::make_unique<State>()) {}

Lab::~Lab() {
  if (!state_->record.persistent)
    static_cast<void>(down());
}

Result<std::unique_ptr<Lab>> Lab::up(const compiler::Site& site, const LabOptions& options) {
  if (Status able = check_environment(); !able)
    return fail(able.error());
  if (auto swept = sweep(); !swept)
    return fail(swept.error());
  const std::string run = options.run.empty() ? random_run() : options.run;
  if (!well_formed(run))
    return fail(ErrorKind::Usage,
                "a run's name has 1 to 32 characters of a-z and 0-9, `" + run + "` has not");

  std::unique_ptr<Lab> lab(new Lab);
  State& state = *lab->state_;
  state.plan = plan_lab(site);
  if (Status read = state.read_enforcers(site); !read)
    return fail(read.error());
  LabRecord& record = state.record;
  record.name = lab_name(site.policy.name, run);
  record.site = site.policy.name;
  record.run = run;
  record.owner = ::getpid();
  record.owner_started = start_time(record.owner);
  for (const auto& node : state.plan.nodes)
    record.hosts.push_back(node.name);
  std::vector<std::string> all = record.hosts;
  all.emplace_back(kFabric);
  record.netns = netns_names(record.name, all);

  // Until the end not persistent: what fails half-way is removed by destruction.
  if (Status written = write_record(record); !written)
    return fail(written.error());
  state.standing = true;
  auto guardian = Guardian::start(record);
  if (!guardian)
    return fail(guardian.error());
  state.guardian = std::move(*guardian);
  for (const auto& name : record.netns) {
    const Status made = options.may_go_on().and_then([&] { return add_netns(name); });
    if (!made)
      return fail(made.error().context("lab " + record.name));
  }
  if (Status built = build_lab(state.plan, record.netns, record.netns.back(), options.may_go_on);
      !built)
    return fail(built.error().context("lab " + record.name));
  if (options.persistent) {
    record.persistent = true;
    if (Status written = replace_record(record); !written) {
      record.persistent = false;
      return fail(written.error());
    }
    state.guardian.release();
  }
  return lab;
}

Result<std::unique_ptr<Lab>> Lab::find(const compiler::Site& site, const std::string& run) {
  if (Status root = check_root(); !root)
    return fail(root.error());
  auto record = read_record(lab_name(site.policy.name, run));
  if (!record)
    return fail(record.error());
  std::unique_ptr<Lab> lab(new Lab);
  lab->state_->record = std::move(*record);
  lab->state_->record.persistent = true;  // it outlives us, whoever made it
  lab->state_->standing = true;
  if (Status read = lab->state_->read_enforcers(site); !read)
    return fail(read.error());
  return lab;
}

Result<std::vector<std::string>> Lab::sweep() {
  std::vector<std::string> removed;
  for (const auto& record : all_records()) {
    if (owner_lives(record))
      continue;
    remove_lab(record);
    removed.push_back(record.name);
  }
  return removed;
}

const std::string& Lab::run() const {
  return state_->record.run;
}

std::vector<std::string> Lab::hosts() const {
  return state_->record.hosts;
}

std::string Lab::netns_path(const std::string& host) const {
  const auto& hosts = state_->record.hosts;
  const auto found = std::find(hosts.begin(), hosts.end(), host);
  if (found != hosts.end())
    return scenarios::netns_path(
        state_->record.netns[static_cast<std::size_t>(found - hosts.begin())]);
  if (host == kFabric)
    return scenarios::netns_path(state_->record.netns.back());
  return {};
}

Status Lab::load_rules(const std::vector<std::pair<std::string, std::string>>& text_by_enforcer) {
  for (const auto& [enforcer, text] : text_by_enforcer) {
    for (const auto& member : state_->members[enforcer]) {
      const auto nft = enforcement::netns_nft(netns_path(member));
      // Other owners first: what they do to tables that are not theirs must not touch ours.
      for (const auto& foreign : state_->foreign_texts[enforcer])
        if (Status loaded = nft->load(foreign); !loaded)
          return fail(
              loaded.error().context("load a foreign ruleset of " + enforcer + " on " + member));
      if (Status loaded = nft->load(text); !loaded)
        return fail(loaded.error().context("load ruleset of " + enforcer + " on " + member));
    }
  }
  return {};
}

Result<int> Lab::exec(const std::string& host, const std::vector<std::string>& command,
                      std::string* why_not) {
  constexpr int kNoSuchProgram = 127, kNotExecutable = 126;  // POSIX: exit status of a shell
  const std::string path = netns_path(host);
  if (path.empty())
    return fail(ErrorKind::Usage, "the lab has no host `" + host + "`");
  int status = 0, not_started = 0;
  const Status ran = enforcement::run_in_netns(path, [&]() -> Status {
    std::vector<char*> arguments;
    for (const auto& word : command)
      arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    pid_t pid = -1;
    const int failed =
        ::posix_spawnp(&pid, arguments[0], nullptr, nullptr, arguments.data(), environ);
    if (failed != 0) {
      not_started = failed == ENOENT ? kNoSuchProgram : kNotExecutable;
      return fail_errno("start " + command.front(), failed);
    }
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return {};
  });
  if (not_started != 0 && why_not) {
    *why_not = ran.error().message;
    return not_started;
  }
  if (!ran)
    return fail(ran.error());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Status Lab::down() {
  if (state_->standing)
    remove_lab(state_->record);
  state_->standing = false;
  state_->guardian.release();
  return {};
}

}  // namespace bulkhead::scenarios
