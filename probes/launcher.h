// Starts bulkhead-agent where a host is: inside its network namespace (lab) or over ssh (live).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "probes/channel.h"

namespace bulkhead::probes {

// Owns the child; destruction ends it (and waits), nothing is left running. A dying operator takes
// its agents with it.
class AgentProcess {
 public:
  virtual ~AgentProcess() = default;
  [[nodiscard]] virtual Channel& channel() = 0;
  [[nodiscard]] virtual int pid() const = 0;                  // of the local child
  [[nodiscard]] virtual std::string stderr_tail() const = 0;  // for error messages
};

class Launcher {
 public:
  virtual ~Launcher() = default;
  [[nodiscard]] virtual Result<std::unique_ptr<AgentProcess>> launch(const std::string& host) = 0;
};

// `netns_of` gives the path of a host's network namespace ("/run/netns/bh-..."). The agent gets a
// fresh mount of /sys, so that /sys/class/net shows its own interfaces.
[[nodiscard]] std::unique_ptr<Launcher> netns_launcher(
    std::string agent_program, std::function<std::string(const std::string& host)> netns_of);

// Runs `ssh_command... DESTINATION agent_program --stdio`; `ssh_command` defaults to ssh with
// BatchMode and a connect timeout. ssh's exit code is never a verdict: only complete evidence is.
struct SshOptions {
  std::vector<std::string> ssh_command = {"ssh", "-oBatchMode=yes", "-oConnectTimeout=10", "-T"};
  std::string agent_program = "bulkhead-agent";
};
[[nodiscard]] std::unique_ptr<Launcher> ssh_launcher(
    SshOptions options, std::function<std::string(const std::string& host)> destination_of);

}  // namespace bulkhead::probes
