#include "probes/child_process.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <thread>

#include "probes/fd_channel.h"

namespace bulkhead::probes {
namespace {

using namespace std::chrono_literals;

class Child : public AgentProcess {
 public:
  Child(int pid, UniqueFd socket, UniqueFd stderr_file)
      : pid_(pid), stderr_file_(std::move(stderr_file)), channel_(std::move(socket)) {}
  ~Child() override;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  Channel& channel() override { return channel_; }
  [[nodiscard]] int pid() const override { return pid_; }
  [[nodiscard]] std::string stderr_tail() const override;

 private:
  int pid_;
  UniqueFd stderr_file_;
  FdChannel channel_;
};

Child::~Child() {
  // TERM first: ssh then closes its connection, and the remote agent sees the end of its input.
  ::kill(pid_, SIGTERM);
  for (int i = 0; i < 200; ++i) {
    if (::waitpid(pid_, nullptr, WNOHANG) != 0)
      return;
    std::this_thread::sleep_for(i < 20 ? 1ms : 10ms);
  }
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::string Child::stderr_tail() const {
  constexpr off_t kTail = 2000;
  const off_t end = ::lseek(stderr_file_.get(), 0, SEEK_END);
  if (end <= 0)
    return {};
  const off_t start = end > kTail ? end - kTail : 0;
  std::string tail(static_cast<std::size_t>(end - start), '\0');
  const ssize_t got = ::pread(stderr_file_.get(), tail.data(), tail.size(), start);
  tail.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  while (tail.ends_with('\n') || tail.ends_with('\r'))  // ssh writes both
    tail.pop_back();
  return tail;
}

enum class Step : int { Namespace, Mount, Exec };

struct StepFailure {
  Step step;
  int error;
};

std::string explain(const StepFailure& failure, const ChildSpec& spec) {
  switch (failure.step) {
    case Step::Namespace:
      return "enter network namespace " + spec.netns_path;
    case Step::Mount:
      return "mount /sys for network namespace " + spec.netns_path;
    case Step::Exec:
      return "start " + spec.command.front();
  }
  return "start child";
}

// /sys/class/net shows the namespace of whoever mounted it, so the child gets its own.
bool mount_own_sys() {
  return ::unshare(CLONE_NEWNS) == 0 &&
         ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0;
}

// Between fork and exec: system calls only, since another thread may hold any lock.
[[noreturn]] void become(const std::vector<char*>& argv, int netns, int socket, int stderr_file,
                         int report, pid_t parent) {
  const auto give_up = [&](Step step) {
    const StepFailure failure{step, errno};
    [[maybe_unused]] const ssize_t ignored = ::write(report, &failure, sizeof failure);
    ::_exit(127);
  };
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent)  // it died before the line above
    ::_exit(127);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
  if (netns >= 0) {
    if (::setns(netns, CLONE_NEWNET) != 0)
      give_up(Step::Namespace);
    if (!mount_own_sys())
      give_up(Step::Mount);
  }
  ::dup2(socket, STDIN_FILENO);
  ::dup2(socket, STDOUT_FILENO);
  ::dup2(stderr_file, STDERR_FILENO);
  ::execvp(argv.front(), argv.data());
  give_up(Step::Exec);
  ::_exit(127);
}

}  // namespace

Result<std::unique_ptr<AgentProcess>> start_child(const ChildSpec& spec) {
  UniqueFd netns;
  if (!spec.netns_path.empty()) {
    netns = UniqueFd(::open(spec.netns_path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!netns)
      return fail_errno("open network namespace " + spec.netns_path, errno);
  }
  // Numbers of all these are above 2, and closed by exec, as those of every other fd of ours.
  std::array<int, 2> pair{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0)
    return fail_errno("make a socket pair", errno);
  UniqueFd ours(pair[0]);
  UniqueFd theirs(pair[1]);
  if (::pipe2(pair.data(), O_CLOEXEC) != 0)
    return fail_errno("make a pipe", errno);
  UniqueFd report_read(pair[0]);
  UniqueFd report_write(pair[1]);
  // A file, not a pipe: it never fills, and nobody has to read it while all goes well.
  UniqueFd stderr_file(::memfd_create("agent-stderr", MFD_CLOEXEC));
  if (!stderr_file)
    return fail_errno("make a file for stderr", errno);

  std::vector<std::string> command = spec.command;
  std::vector<char*> argv;
  for (std::string& word : command)
    argv.push_back(word.data());
  argv.push_back(nullptr);

  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0)
    return fail_errno("fork", errno);
  if (pid == 0)
    become(argv, netns.get(), theirs.get(), stderr_file.get(), report_write.get(), parent);
  auto child = std::make_unique<Child>(pid, std::move(ours), std::move(stderr_file));
  theirs.reset();
  report_write.reset();
  StepFailure failure{};
  ssize_t got = 0;
  while ((got = ::read(report_read.get(), &failure, sizeof failure)) < 0 && errno == EINTR) {
  }
  if (got == static_cast<ssize_t>(sizeof failure))
    return fail_errno(explain(failure, spec), failure.error);
  return child;
}

}  // namespace bulkhead::probes
