#include "probes/child_process.h"

namespace bulkhead::probes {
namespace {

class NetnsLauncher : public Launcher {
 public:
  NetnsLauncher(std::string agent_program,
                std::function<std::string(const std::string& host)> netns_of)
      : agent_program_(std::move(agent_program)), netns_of_(std::move(netns_of)) {}

  Result<std::unique_ptr<AgentProcess>> launch(const std::string& host) override {
    const std::string netns_path = netns_of_(host);
    if (netns_path.empty())
      return fail(ErrorKind::Environment, "launch agent on " + host + ": it has no namespace");
    auto child = start_child({{agent_program_, "--stdio"}, netns_path});
    if (!child)
      return fail(child.error().context("launch agent on " + host));
    return child;
  }

 private:
  std::string agent_program_;
  std::function<std::string(const std::string&)> netns_of_;
};

}  // namespace

std::unique_ptr<Launcher> netns_launcher(
    std::string agent_program, std::function<std::string(const std::string& host)> netns_of) {
  return std::make_unique<NetnsLauncher>(std::move(agent_program), std::move(netns_of));
}

}  // namespace bulkhead::probes
