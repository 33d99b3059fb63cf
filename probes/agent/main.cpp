// bulkhead-agent: started by bulkhead on a host or in its network namespace; talks over standard
// input and output.
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "policy/support/handle.h"
#include "probes/agent/agent.h"

namespace {

constexpr const char* kHelp =
    "usage: bulkhead-agent --stdio\n"
    "\n"
    "The probe of bulkhead: sends what the operator's plan names and reports what it sees, as\n"
    "JSON lines (schema bulkhead.agent/1) on standard input and output. Started by\n"
    "`bulkhead audit`, not by people. Needs CAP_NET_RAW, and CAP_NET_ADMIN on an enforcer.\n"
    "\n"
    "  --stdio    talk over standard input and output until they end\n"
    "  --version  print the version\n"
    "  --help     print this\n"
    "\n"
    "example: ssh HOST bulkhead-agent --version\n";

int serve() {
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGHUP);
  ::sigprocmask(SIG_BLOCK, &ending, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  const bulkhead::UniqueFd signals(::signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK));
  bulkhead::probes::EventLoop loop;
  bulkhead::probes::Agent agent(loop, STDIN_FILENO, STDOUT_FILENO);
  return agent.run(signals.get());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view option = argc == 2 ? argv[1] : "";
  if (option == "--stdio")
    return serve();
  if (option == "--version") {
    std::puts("bulkhead-agent " BULKHEAD_VERSION);
    return 0;
  }
  if (option == "--help" || option == "-h") {
    std::fputs(kHelp, stdout);
    return 0;
  }
  std::fputs(kHelp, stderr);
  return 2;
}
