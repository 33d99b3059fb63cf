#include "enforcement/watchdog.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <thread>

#include "enforcement/backends/process.h"
#include "enforcement/lock.h"
#include "enforcement/recover.h"
#include "enforcement/restore.h"
#include "policy/support/handle.h"

namespace bulkhead::enforcement {

namespace {

using namespace std::chrono_literals;

bool has_systemd() {
  struct stat status {};
  return ::stat("/run/systemd/system", &status) == 0;
}

// Between fork and exec only what is safe there. A second fork: the watchdog is nobody's child who
// would have to wait for it.
Status start_detached(const std::vector<std::string>& program) {
  std::vector<char*> words;
  for (const std::string& word : program)
    words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0)
    return fail_errno("start the watchdog", errno);
  if (child == 0) {
    ::setsid();
    if (::fork() != 0)
      ::_exit(0);
    const int null = ::open("/dev/null", O_RDWR);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      ::dup2(null, stream);
    if (::chdir("/") != 0)
      ::_exit(126);
    ::execv(words[0], words.data());
    ::_exit(127);
  }
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return {};
}

// systemd starts it in its own network namespace, unless it is told ours.
Status start_as_unit(const Generation& generation, const std::vector<std::string>& program) {
  std::vector<std::string> command{
      "systemd-run", "--quiet", "--collect",
      fmt::format("--unit=bulkhead-watchdog-{}", generation.number),
      fmt::format("--property=NetworkNamespacePath=/proc/{}/ns/net", ::getpid())};
  command.insert(command.end(), program.begin(), program.end());
  const auto ran = run_process(command, "", 10s);
  if (!ran)
    return fail(ran.error());
  if (ran->status != 0)
    return fail(ErrorKind::Environment, "systemd-run: " + ran->err);
  return {};
}

// Readable when the process is gone. Nothing where the kernel does not know such a thing.
UniqueFd pidfd_of(const ProcessId& process) {
  UniqueFd fd(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  return process.is_alive() ? std::move(fd) : UniqueFd();
}

}  // namespace

Status start_watchdog(const Journal& journal, const Generation& generation,
                      const std::vector<std::string>& program) {
  const Status started =
      has_systemd() ? start_as_unit(generation, program) : start_detached(program);
  if (!started)
    return started;
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (std::chrono::steady_clock::now() < end) {
    if (const auto watchdog = journal.watchdog(generation.number); watchdog && watchdog->is_alive())
      return {};
    std::this_thread::sleep_for(2ms);
  }
  return fail(ErrorKind::Environment, "the watchdog did not come up: nothing was loaded");
}

Status watch(Backend& backend, Journal& journal, std::uint64_t number) {
  for (const int signal : {SIGHUP, SIGINT, SIGTERM, SIGPIPE})
    ::signal(signal, SIG_IGN);
  auto generation = journal.get(number);
  if (!generation)
    return fail(generation.error());
  if (Status written = journal.write_watchdog(number, ProcessId::self()); !written)
    return written;
  const UniqueFd applier = pidfd_of(generation->applier);
  Status last;
  for (int attempts = 0; attempts < 60;) {
    pollfd end{applier.get(), POLLIN, 0};
    // Once it is gone the descriptor is always ready: then the pace is that of the attempts.
    if (::poll(&end, 1, 100) > 0 && attempts > 0)
      std::this_thread::sleep_for(500ms);
    generation = journal.get(number);
    if (!generation)
      return fail(generation.error());
    if (is_final(generation->state))
      return {};
    if (!why_it_must_end(*generation))
      continue;
    const auto lock = Lock::take(journal.folder(), "watchdog", 30s);
    if (!lock)
      continue;  // whoever holds it may be the one that confirms
    generation = journal.get(number);
    if (!generation || is_final(generation->state))
      return {};
    const auto why = why_it_must_end(*generation);
    if (!why)
      continue;
    last = restore(backend, journal, *generation, *why);
    ::syslog(last ? LOG_WARNING : LOG_CRIT, "bulkhead: generation %llu: %s",
             static_cast<unsigned long long>(number),
             last ? ("undone: " + *why).c_str() : last.error().message.c_str());
    if (last)
      return {};
    ++attempts;
  }
  return last;
}

}  // namespace bulkhead::enforcement
