#include "probes/child_process.h"

namespace bulkhead::probes {
namespace {

class SshLauncher : public Launcher {
 public:
  SshLauncher(SshOptions options,
              std::function<std::string(const std::string& host)> destination_of)
      : options_(std::move(options)), destination_of_(std::move(destination_of)) {}

  Result<std::unique_ptr<AgentProcess>> launch(const std::string& host) override {
    const std::string destination = destination_of_(host);
    // ssh would take a leading dash for an option of its own.
    if (destination.empty() || destination.front() == '-') {
      return fail(ErrorKind::Environment,
                  "launch agent on " + host + ": `" + destination + "` is no ssh destination");
    }
    std::vector<std::string> command = options_.ssh_command;
    command.insert(command.end(), {"--", destination, options_.agent_program, "--stdio"});
    auto child = start_child({std::move(command), {}});
    if (!child)
      return fail(child.error().context("launch agent on " + host));
    return child;
  }

 private:
  SshOptions options_;
  std::function<std::string(const std::string&)> destination_of_;
};

}  // namespace

std::unique_ptr<Launcher> ssh_launcher(
    SshOptions options, std::function<std::string(const std::string& host)> destination_of) {
  return std::make_unique<SshLauncher>(std::move(options), std::move(destination_of));
}

}  // namespace bulkhead::probes
